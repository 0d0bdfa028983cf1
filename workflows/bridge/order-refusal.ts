import type { Ending } from '../../src/protocol/decisions.js';
import type { ParkAction } from '../../src/protocol/vocabulary.js';

/** Endings against which an order does not stand, whether or not the person knew of them. */
const AGAINST: Readonly<Partial<Record<ParkAction, readonly Ending[]>>> = {
  'mark-completed': ['refunded'],
  'mark-refunded': ['completed'],
  'mark-failed': ['completed', 'refunded'],
  'close-without-refund': ['completed', 'refunded'],
  'refund-now': ['completed', 'refunded'],
};

/** Against which it does not stand unless the person knew of it: a transfer that failed for the service may have been paid. */
const AGAINST_UNSEEN: Readonly<Partial<Record<ParkAction, readonly Ending[]>>> = { 'mark-completed': ['failed'] };

/**
 * Why a person's order cannot be carried out by what is proven at that moment; null where it can. Where proofs exclude one
 * another the person decides between those on show, and against none that came since.
 *
 * @param shown the endings that were proven when the transfer was shown
 */
export function orderRefusal(order: ParkAction, proven: readonly Ending[], shown: readonly Ending[]): string | null {
  const isConflict = proven.includes('completed') && proven.length > 1;
  const unseen = proven.filter((ending) => !shown.includes(ending));
  const always = (AGAINST[order] ?? []).filter((ending) => (isConflict ? unseen : proven).includes(ending));
  const ifUnseen = (AGAINST_UNSEEN[order] ?? []).filter((ending) => unseen.includes(ending));
  const [proof] = [...always, ...ifUnseen];
  return proof === undefined ? null : `a trusted event proves that it ${HAS[proof]}`;
}

const HAS = {
  completed: 'completed',
  failed: 'failed',
  refunded: 'was refunded',
} as const satisfies Record<Ending, string>;
