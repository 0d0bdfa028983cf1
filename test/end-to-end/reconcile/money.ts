import { groupBy } from './group-by.js';
import { sumBy, units } from './amounts.js';
import type { LedgerEntry, Violation, Witnesses } from './witnesses.js';

const HELD = 'service:held';
const baseOf = (reference: string) => reference.replace(/\.refund$/, '');

/** What the service still holds for one reference, by currency. */
export function heldOf({ entries }: Pick<Witnesses, 'entries'>, reference: string) {
  const postings = entries
    .filter((entry) => baseOf(entry.reference) === reference)
    .flatMap((entry) => entry.postings)
    .filter(({ account }) => account === HELD);
  const sums = sumBy(
    postings,
    ({ currency }) => currency,
    ({ amount }) => units(amount),
  );
  return [...sums].map(([currency, amount]) => ({ currency, amount }));
}

/** I3: every entry balances, and per currency accepted − settled − refunded − fees = held, by our own sums. */
export function booksBalance({ entries, balances }: Witnesses): readonly Violation[] {
  const found: string[] = [];
  for (const entry of entries) {
    const sums = sumBy(
      entry.postings,
      ({ currency }) => currency,
      ({ amount }) => units(amount),
    );
    for (const [currency, sum] of sums) {
      if (sum !== 0n) found.push(`${entry.kind} of ${entry.reference} is off in ${currency}`);
    }
  }
  const inOut = entries.flatMap(({ kind, reference, postings }) =>
    postings.filter(({ account }) => account === HELD).map((posting) => ({ kind, reference, ...posting })),
  );
  for (const [currency, left] of sumBy(
    inOut,
    ({ currency }) => currency,
    ({ amount }) => units(amount),
  )) {
    const shown = units(balances[HELD]?.[currency] ?? '0');
    if (left !== shown) found.push(`accepted − settled − refunded − fees ≠ held in ${currency}`);
  }
  const byReference = sumBy(
    inOut,
    ({ reference, currency }) => `${baseOf(reference)} ${currency}`,
    ({ amount }) => units(amount),
  );
  for (const [what, left] of byReference) if (left < 0n) found.push(`more went out than came in for ${what}`);
  return found.map((what) => ({ invariant: 'I3', what }));
}

/** I4: settled ∩ refunded = ∅, at most one refund per reference, refund ≤ collected. */
export function refundedOnce({ entries }: Witnesses): readonly Violation[] {
  const found: string[] = [];
  for (const [reference, all] of groupBy(entries, (entry) => baseOf(entry.reference))) {
    const of = (...kinds: string[]) => all.filter(({ kind }) => kinds.includes(kind));
    const ours = of('crypto-send').filter((entry) => entry.reference !== reference);
    const refunds = of('refund', 'release');
    if (of('settlement').length > 0 && refunds.length + ours.length > 0)
      found.push(`${reference}: settled and refunded`);
    if (refunds.length > 1 || ours.length > 1) found.push(`${reference}: refunded more than once`);
    if (ours.length > 0 && cryptoOut(ours) > cryptoOut(of('crypto-payment'))) {
      found.push(`${reference}: more was refunded than was paid`);
    }
  }
  return found.map((what) => ({ invariant: 'I4', what }));
}

function cryptoOut(entries: readonly LedgerEntry[]): bigint {
  const out = entries.flatMap(({ postings }) => postings).filter(({ account }) => account === 'crypto-out');
  return out.reduce((sum, { amount }) => sum + units(amount), 0n);
}
