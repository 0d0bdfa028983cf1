import type { Evidence } from '../../src/protocol/decisions.js';
import { isUnread, UNREADABLE, type FlowEvent } from '../../src/protocol/messages.js';
import { classifyOfAnyKind } from '../../src/protocol/statuses.js';
import type { Facts } from '../../activities/types.js';
import { pick } from '../engine/events-in.js';
import { asBridgeStatus, cryptoWasPaid, type SeenStatuses } from './statuses.js';

/**
 * Stages before the service pays the crypto: a failure in one of them owes no refund of it. Whole words, since the last
 * leg pays fiat out: "fiat_payout" is no early stage. Any other word decides nothing.
 */
const BEFORE_PAYMENT = /^(deposit|deposit_initiated|fiat_deposit|fiat_collection|collection|quote|rate|kyc)$/i;

/**
 * Words which say that the service's own refund is at most announced, or failed. Any other word may mean that it is
 * done or in progress: a refund by us could be the second one.
 */
const NOT_BEGUN =
  /^(pending|none|not[ _-]?(started|initiated|applicable|required)|(refund[ _-]?)?(failed|rejected|declined|cancell?ed))$/i;

/** Each of these is there only once the service has begun its refund, whatever word says how it goes. */
const SIGNS_OF_BEGINNING = ['refundStartedAt', 'refundMethodUsed', 'refundHash'] as const;
const OF_THEIR_REFUND = [...SIGNS_OF_BEGINNING, 'refundInvoiceExpiresAt'] as const;

/**
 * What an event of any status says of the service's own refund. A status of its own for the refund, as REFUND_PENDING,
 * says more than a failure that announces it as PENDING: it has begun.
 */
export function theirRefundIn({ status, facts }: Pick<FlowEvent, 'status' | 'facts'>): Facts {
  const words = [...refundWords(facts), ...(status !== null && isOfRefund(status) ? [status] : [])];
  if (words.length === 0 && !OF_THEIR_REFUND.some((name) => name in facts)) return {};
  return {
    ...pick(facts, OF_THEIR_REFUND),
    ...(words.length === 0 ? {} : { refundStatus: words.join(', ') }),
  };
}

/** REFUNDED is an ending of the transfer, with rules of its own. */
const isOfRefund = (status: string): boolean =>
  asBridgeStatus(status) === undefined && (/refund/i.test(status) || classifyOfAnyKind(status) === 'refunded');

/** Whether the service's own refund may be done or in progress, by what one event or several together say of it. */
export function refundBegun(facts: Facts): boolean {
  return (
    SIGNS_OF_BEGINNING.some((sign) => facts[sign] !== undefined) ||
    refundWords(facts).some((word) => !NOT_BEGUN.test(word))
  );
}

/**
 * What is said of a refund that the service has begun, for the person who decides: an invoice over Lightning can
 * no longer be paid once it has expired, while nothing on a chain expires.
 */
export function shownBeginning(facts: Facts): Facts | null {
  const shown = pick(facts, OF_THEIR_REFUND);
  return refundBegun(facts) && Object.keys(shown).length > 0 ? shown : null;
}

const refundWords = ({ refundStatus }: Facts): readonly string[] =>
  (refundStatus ?? '').split(',').flatMap((word) => word.trim() || []);

interface Failed {
  readonly failure: FlowEvent | null;
  readonly statuses: SeenStatuses;
  readonly cameIn: Facts;
  readonly theirRefund: Facts;
  readonly unverified: readonly FlowEvent[];
}

/**
 * Whether the crypto was paid to us, so that a failure obliges us to return it. `shown` as soon as any trusted event
 * said so, whatever came before or after; `absent` only if the failure names a stage before the payment, and no event
 * says otherwise, trusted or not. The event that reported the payment may be lost.
 */
export function fundsHeld({ failure, statuses, cameIn, theirRefund, unverified }: Failed): Evidence {
  const facts = failure?.facts ?? {};
  if (cryptoWasPaid(statuses) || owesRefund(facts) || owesRefund(cameIn)) return 'shown';
  const mayBeHeld = [facts, cameIn].some(mayHaveComeIn) || refundBegun(theirRefund) || unverified.some(saysPaid);
  return BEFORE_PAYMENT.test(facts['failureStage'] ?? '') && !mayBeHeld ? 'absent' : 'cannot-tell';
}

/** Whether the event says that the crypto was paid, if it is true; one that cannot be read may say so. */
export function saysPaid({ status, facts }: FlowEvent): boolean {
  const word = asBridgeStatus(status);
  return owesRefund(facts) || mayHaveComeIn(facts) || (word !== undefined && cryptoWasPaid({ seen: [word] }));
}

/** A FAILED that announces a refund, or comes after the crypto was paid: a settlement can fail only then. */
function owesRefund(facts: Facts): boolean {
  return (
    facts['refundAnnounced'] === 'true' ||
    ![undefined, UNREADABLE].includes(facts['cryptoReceivedAt']) ||
    /^settl/i.test(facts['failureStage'] ?? '')
  );
}

/** What it says about that cannot be read. */
const mayHaveComeIn = (facts: Facts): boolean =>
  isUnread(facts) || [facts['cryptoReceivedAt'], facts['failureStage']].includes(UNREADABLE);

/**
 * The facts of two FAILED events together; if they contradict one another, the facts that owe the customer a refund, or
 * that do not name a stage before the payment. What they say of the service's own refund is kept, each word once, in the
 * order in which they came: a person is shown that it was under way, and that it is done.
 */
export function factsTogether(first: Facts, second: Facts): Facts {
  const together = owesRefund(second) && !owesRefund(first) ? { ...first, ...second } : { ...second, ...first };
  const refund = [...new Set([first, second].flatMap(refundWords))].join(', ');
  const stage = [together, first, second]
    .flatMap((facts) => facts['failureStage'] ?? [])
    .find((named) => !BEFORE_PAYMENT.test(named));
  return {
    ...together,
    ...(refund === '' ? {} : { refundStatus: refund }),
    ...(stage === undefined ? {} : { failureStage: stage }),
  };
}
