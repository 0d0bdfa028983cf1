import { UNREADABLE } from '../protocol/messages.js';
import { memberOf } from './callback.js';

/*
 * Facts that identify a record of the service, as the contract reads it. A member that is missing, null or empty is no
 * fact. One that is there and cannot be read may be another one than ours: its fact is `UNREADABLE`.
 */

/** The fact in a text or an amount. The contract keeps a member that it could not read as undefined. */
export function recordFact(record: unknown, member: string): string | undefined {
  const value = memberOf(record, member);
  if (!has(record, member) || value === null || value === '') return undefined;
  return typeof value === 'string' || typeof value === 'number' ? String(value) : UNREADABLE;
}

/** Only those that are there. */
export function factsIn(facts: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(facts).flatMap(([name, fact]) => (fact === undefined ? [] : [[name, fact]])),
  );
}

const has = (record: unknown, member: string): boolean =>
  typeof record === 'object' && record !== null && Object.hasOwn(record, member);
