/** Every number in it as text: "a number may come as a string" (service-notes.md). Pure. */
export function withNumbersAsText(value: object): object {
  return JSON.parse(JSON.stringify(value), (_key, member: unknown) =>
    typeof member === 'number' ? String(member) : member,
  ) as object;
}
