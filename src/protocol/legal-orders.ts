import type { Cause } from './causes.js';
import { executed, type Ending, type PostEvidence } from './decisions.js';
import type { ParkAction } from './vocabulary.js';

/*
 * What a person may order, against what is known about money when the order is carried out. Pure, and printed in
 * docs/decisions.md like `decisions.ts`, on whose evidence it rests.
 */

/** Orders that a person may give about a POST whose outcome is unknown. */
export const POST_ORDERS = ['send-again', 'close-not-executed', 'mark-completed', 'mark-refunded'] as const;
export type PostOrder = (typeof POST_ORDERS)[number];

/**
 * Why an order cannot be carried out, by all that is known at that moment; null if it can. A person's order replaces
 * missing proof, and never stands against proof.
 */
export function refusalOf(order: PostOrder, post: PostEvidence): Cause | null {
  const known = executed(post);
  switch (order) {
    case 'send-again':
      if (known === 'shown') return SERVICE_HAS_IT;
      if (known === 'other') return SERVICE_HAS_OTHER;
      return claimClosed(post);
    case 'close-not-executed':
      return known === 'shown' ? SERVICE_HAS_IT : null;
    case 'mark-completed':
    case 'mark-refunded':
      // Its ending is not decided here: the flow follows the service's record.
      if (known === 'shown') return SERVICE_HAS_IT;
      return claimClosed(post);
    default:
      return order satisfies never;
  }
}

const SERVICE_HAS_IT: Cause = { code: 'service_has_it', text: 'the service is known to have it' };
const SERVICE_HAS_OTHER: Cause = {
  code: 'service_has_other',
  text: 'the service has something else under this reference',
};

function claimClosed({ claim }: PostEvidence): Cause | null {
  return claim === 'rejected' || claim === 'void' ? { code: 'claim_closed', text: `its claim is ${claim}` } : null;
}

/** Proven endings against which a person's order is refused, whether or not the person knew of them. */
const AGAINST: Readonly<Partial<Record<ParkAction, readonly Ending[]>>> = {
  'send-again': ['completed', 'refunded'],
  'close-not-executed': ['completed', 'refunded'],
  'mark-completed': ['refunded'],
  'mark-refunded': ['completed'],
  'mark-failed': ['completed', 'refunded'],
  'close-without-refund': ['completed', 'refunded'],
  'refund-now': ['completed', 'refunded'],
};

/**
 * Proven endings against which an order is refused unless the person knew of them: a payment that failed at the service
 * may still have been paid.
 */
const AGAINST_UNSEEN: Readonly<Partial<Record<ParkAction, readonly Ending[]>>> = { 'mark-completed': ['failed'] };

/**
 * Why a person's order cannot be carried out against what is proven at that moment; null if it can. If proofs exclude
 * one another, the person decides between those that were shown, and not against any that came since.
 *
 * @param shown the endings that were proven when the person was asked
 */
export function orderRefusal(order: ParkAction, proven: readonly Ending[], shown: readonly Ending[]): Cause | null {
  const isConflict = proven.includes('completed') && proven.length > 1;
  const unseen = proven.filter((ending) => !shown.includes(ending));
  const always = (AGAINST[order] ?? []).filter((ending) => (isConflict ? unseen : proven).includes(ending));
  const ifUnseen = (AGAINST_UNSEEN[order] ?? []).filter((ending) => unseen.includes(ending));
  const [proof] = [...always, ...ifUnseen];
  return proof === undefined ? null : { code: 'proven_otherwise', text: `it is proven that it ${HAS[proof]}` };
}

const HAS = {
  completed: 'completed',
  failed: 'failed',
  refunded: 'was refunded',
} as const satisfies Record<Ending, string>;

/** Why an order to send again opened no claim, though the claim could be opened. */
export const ORDERED_BEFORE: Cause = {
  code: 'ordered_before',
  text: 'it was sent again by this very order before the flow was reset: look at what became of that, and order anew',
};

/** Why a person's last word closed no claim, by what the store found. */
export const NOT_CLOSED = {
  contradicted: {
    code: 'event_came',
    text: 'an event that came in at this moment may say otherwise: order it again',
  },
  unmatched: {
    code: 'event_being_matched',
    text: 'a webhook under its reference is being matched, and may say otherwise: order it again',
  },
  'under-way': { code: 'post_under_way', text: 'a POST of it may be under way: order it again' },
} as const satisfies Readonly<Record<string, Cause>>;
