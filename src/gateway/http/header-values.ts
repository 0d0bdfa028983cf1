/**
 * Every value of a header, in the order in which they came: two of them may be a trick. Looked up by name, since to sort out
 * all headers of each request takes longer than to check its signature.
 *
 * @param rawHeaders names and values in turn, as Node gives them
 * @param name in lower case
 */
export function headerValues(rawHeaders: readonly string[], name: string): readonly string[] {
  const values: string[] = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const found = rawHeaders[index] ?? '';
    if (found.length === name.length && found.toLowerCase() === name) values.push(rawHeaders[index + 1] ?? '');
  }
  return values;
}
