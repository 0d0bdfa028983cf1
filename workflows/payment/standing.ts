import { isFinal, type Meaning } from '../../src/flows/meanings.js';

/** Where a payment stands by all that was proven, and by what trusted events told beside it. */
export type PaymentStanding =
  | { readonly kind: 'open' }
  | { readonly kind: 'ended'; readonly meaning: FinalMeaning }
  | { readonly kind: 'conflict' };

export type FinalMeaning = Exclude<Meaning, 'pending' | 'refund-pending'>;

/** How far along the way a meaning lies: the furthest one that was proven decides, so that order cannot matter. */
const ORDER: readonly Meaning[] = ['pending', 'succeeded', 'failed', 'refund-pending', 'refund-failed', 'refunded'];

/**
 * @param proven by the status lookup, or by trusted events where there is none
 * @param told by trusted events; where a lookup exists it has the last word, unless the two exclude one another
 */
export function paymentStanding(proven: readonly Meaning[], told: readonly Meaning[]): PaymentStanding {
  const all = [...proven, ...told];
  // A success excludes every word of failure and refund.
  if (
    all.includes('succeeded') &&
    proven.length > 0 &&
    all.some((meaning) => meaning !== 'succeeded' && meaning !== 'pending')
  ) {
    return proven.some(isFinal) ? { kind: 'conflict' } : { kind: 'open' };
  }
  const furthest = ORDER.findLast((meaning) => proven.includes(meaning)) ?? 'pending';
  if (furthest === 'pending' || furthest === 'refund-pending') return { kind: 'open' };
  return { kind: 'ended', meaning: furthest };
}
