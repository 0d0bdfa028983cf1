import { sameAmount } from '../../src/money.js';

/** What can be compared between an event, a record of the service, and what we know; amounts as decimal strings. */
export type Facts = Readonly<Record<string, string>>;

/** Facts that are amounts: "100" and "100.00" are the same. Every other fact is compared as text. */
const AMOUNTS: readonly string[] = [
  'amount',
  'settlementAmount',
  'cryptoAmount',
  'amountMsat',
  'fiatAmount',
  'paidAmount',
];

/** The facts in which an event differs from what we know; what either side does not say cannot differ. */
export function differences(known: Facts, told: Facts): readonly string[] {
  return Object.entries(known)
    .filter(([name, ours]) => {
      const theirs = told[name];
      if (theirs === undefined) return false;
      return AMOUNTS.includes(name) ? !equalAmounts(ours, theirs) : ours !== theirs;
    })
    .map(([name]) => name);
}

/** Runs inside signal handlers, which must not throw: what cannot be read as an amount is not equal to one. */
export function equalAmounts(ours: string, theirs: string): boolean {
  try {
    return sameAmount(ours, theirs);
  } catch {
    return false;
  }
}

/** Those of the facts that are named. */
export function pick(facts: Facts, names: readonly string[]): Facts {
  return Object.fromEntries(names.flatMap((name) => (facts[name] === undefined ? [] : [[name, facts[name]]])));
}
