import { BRIDGE_CHAINS, BRIDGE_TOKENS, CHAINS, TOKENS } from '../contract/vocabulary.js';
import { UNREADABLE } from '../protocol/messages.js';
import { readCode } from '../readers/code.js';
import { factOf, isObject, memberOf } from './callback.js';

/*
 * Facts that identify a record of the service, as the contract reads it. A member that is missing, null or empty is no
 * fact. One that is there and cannot be read may be another one than ours: its fact is `UNREADABLE`.
 */

/** The fact in a member. The contract keeps a member that it could not read as undefined. */
export function recordFact(
  record: unknown,
  member: string,
  read: (said: unknown) => string | undefined,
): string | undefined {
  const said = memberOf(record, member);
  const isUnread = Array.isArray(said) || (said === undefined && has(record, member));
  return isUnread ? UNREADABLE : factOf(said, read);
}

/** The status in a record; null if it has none. One that cannot be read is shown as that: it is in no table. */
export const statusIn = (said: unknown): string | null => factOf(said, readCode) ?? null;

/**
 * Chain and token, which are plain words or objects whose members the interface does not show: a word of the vocabulary
 * counts, in any case. Another word proves neither ours nor another one; an object without words names none.
 */
export function assetFacts(record: unknown): Readonly<Record<string, string>> {
  return factsIn({
    chain: wordFact(record, 'chain', [...CHAINS, ...BRIDGE_CHAINS]),
    token: wordFact(record, 'token', [...TOKENS, ...BRIDGE_TOKENS]),
  });
}

function wordFact(record: unknown, member: string, vocabulary: readonly string[]): string | undefined {
  const said = memberOf(record, member);
  const [object, members] = isObject(said) ? [said, NAMES] : [record, [member]];
  const names = members.flatMap((name) => recordFact(object, name, readCode) ?? []);
  if (names.length === 0) return undefined;
  const [word, ...others] = new Set(names.filter((name) => vocabulary.includes(name)));
  return word !== undefined && others.length === 0 ? word : UNREADABLE;
}

/** Members of an object that may name a chain or a token. */
const NAMES = ['name', 'symbol', 'code'] as const;

/** Only those that are there. */
export function factsIn(facts: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(facts).flatMap(([name, fact]) => (fact === undefined ? [] : [[name, fact]])),
  );
}

/**
 * A record names a reference of ours, or an amount. What names neither may be of any payment: nothing of it could differ
 * from ours. The service's own reference may be unknown to us.
 */
export const namesPayment = (facts: Readonly<Record<string, string>>): boolean =>
  Object.entries(facts).some(([name, fact]) => fact !== UNREADABLE && (OF_OURS.has(name) || name.startsWith('amount')));

const OF_OURS: ReadonlySet<string> = new Set(['ourReference', 'paymentHash']);

const has = (record: unknown, member: string): boolean =>
  typeof record === 'object' && record !== null && Object.hasOwn(record, member);
