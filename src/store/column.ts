import type { Row } from './sql-message.js';

/** A TEXT column that is never null. @throws TypeError where it is something else: the statement is wrong */
export function text(row: Row | undefined, column: string): string {
  const value = row?.[column];
  if (typeof value !== 'string') throw new TypeError(`Column ${column} is no text`);
  return value;
}

/** An INTEGER column that is never null. @throws TypeError where it is something else: the statement is wrong */
export function integer(row: Row | undefined, column: string): number {
  const value = row?.[column];
  if (typeof value !== 'number') throw new TypeError(`Column ${column} is no integer`);
  return value;
}
