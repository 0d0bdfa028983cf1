import { isFinal, type Meaning } from '../../src/flows/meanings.js';

/** Where a payment stands by all that was proven, and by what trusted events told beside it. */
export type PaymentStanding =
  | { readonly kind: 'open' }
  | { readonly kind: 'ended'; readonly meaning: FinalMeaning }
  | { readonly kind: 'owed' }
  | { readonly kind: 'conflict' };

export type FinalMeaning = Exclude<Meaning, 'pending' | 'collected' | 'owed' | 'refund-pending'>;

/** How far along the way a meaning lies: the furthest one that was proven decides, so that order cannot matter. */
const ORDER: readonly Meaning[] = [
  'pending',
  'collected',
  'succeeded',
  'failed',
  'owed',
  'refund-pending',
  'refund-failed',
  'refunded',
];

/** What a success may have on its way: every other word excludes it. */
const BEFORE_SUCCESS: readonly Meaning[] = ['pending', 'collected', 'succeeded'];

/**
 * @param proven by the status lookup, or by trusted events where there is none
 * @param told by trusted events; where a lookup exists it has the last word, unless the two exclude one another
 */
export function paymentStanding(proven: readonly Meaning[], told: readonly Meaning[]): PaymentStanding {
  const all = [...proven, ...told];
  // A success excludes every word of failure and refund.
  if (all.includes('succeeded') && proven.length > 0 && all.some((meaning) => !BEFORE_SUCCESS.includes(meaning))) {
    return proven.some(isFinal) ? { kind: 'conflict' } : { kind: 'open' };
  }
  const furthest = ORDER.findLast((meaning) => proven.includes(meaning)) ?? 'pending';
  if (furthest === 'pending' || furthest === 'collected' || furthest === 'refund-pending') return { kind: 'open' };
  if (furthest === 'owed') return { kind: 'owed' };
  // A failure says that nothing was taken.
  if (furthest === 'failed' && all.includes('collected')) return { kind: 'conflict' };
  return { kind: 'ended', meaning: furthest };
}
