/** The value has no JSON: NaN, Infinity, a bigint, a function, an instance of a class, a cycle. */
export class NotJsonError extends Error {
  override readonly name = 'NotJsonError';

  constructor(what: string) {
    super(`Not a JSON value: ${what}`);
  }
}

/**
 * One text for equal JSON values: keys sorted by code unit, no spaces, undefined members left out. Amounts come as
 * decimal strings; a number prints as JavaScript prints it.
 *
 * @throws NotJsonError if `JSON.stringify` would lose or change something
 */
export function canonicalJson(value: unknown): string {
  return print(value, []);
}

/** `parents` is one stack for the whole value: a copy for each level would make a wide and deep body slow. */
function print(value: unknown, parents: unknown[]): string {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new NotJsonError(String(value));
    return JSON.stringify(value);
  }
  if (typeof value !== 'object') throw new NotJsonError(typeof value);
  if (parents.includes(value)) throw new NotJsonError('a cycle');
  parents.push(value);
  const text = Array.isArray(value) ? printArray(value, parents) : printObject(value, parents);
  parents.pop();
  return text;
}

/** By index, so that holes are visited, too. */
function printArray(value: readonly unknown[], parents: unknown[]): string {
  let text = '';
  for (let index = 0; index < value.length; index += 1)
    text += `${index === 0 ? '' : ','}${print(value[index], parents)}`;
  return `[${text}]`;
}

function printObject(value: object, parents: unknown[]): string {
  if (!isPlain(value)) throw new NotJsonError('an instance of a class');
  const members = value as Readonly<Record<string, unknown>>;
  let text = '';
  // Sorted by code unit, which is `sort`'s default.
  for (const name of Object.keys(value).sort()) {
    const member = members[name];
    if (member === undefined) continue;
    text += `${text === '' ? '' : ','}${JSON.stringify(name)}:${print(member, parents)}`;
  }
  return `{${text}}`;
}

/** Identified by shape and not by identity: objects of another realm (a test's, a sandbox's) have another `Object`. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
