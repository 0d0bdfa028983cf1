import { createHash } from 'node:crypto';

/** A member of a member, by `a.b.c`; undefined if there is none. */
export function at(value: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((inner, name) => {
    return typeof inner === 'object' && inner !== null ? (inner as Record<string, unknown>)[name] : undefined;
  }, value);
}

/** The same for the same JSON, however its members are ordered. */
export function digest(value: unknown): string {
  return createHash('sha256').update(sorted(value)).digest('hex');
}

function sorted(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(sorted).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${sorted(member)}`).join(',')}}`;
}

/** Undefined for what is no JSON. */
export function parsed(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? '') as unknown;
  } catch {
    return undefined;
  }
}
