import type { Cause } from './causes.js';
import { isFinal, type Meaning } from './statuses.js';

/*
 * What is known about money, and what a flow may do with that knowledge by itself; `legal-orders.ts` says what a person
 * may order. Pure, and without imports of other folders, so that workflows may import its values. docs/decisions.md
 * prints these tables.
 */

/** The three answers to every question about the outside world. A refusal, an error and a timeout are `cannot-tell`. */
export const EVIDENCE = ['shown', 'absent', 'cannot-tell'] as const;
export type Evidence = (typeof EVIDENCE)[number];

/** What the claim of a POST says. `ordered`: reserved for another send that was ordered; an earlier one was sent. */
export const CLAIM_SAYS = ['free', 'reserved', 'ordered', 'sending', 'answered', 'rejected', 'void'] as const;
export type ClaimSays = (typeof CLAIM_SAYS)[number];

/**
 * What the status lookup says about a POST. `other`: a record of another amount, currency or receiver.
 * `proves-nothing`: its record may be older than the POST, or lacks what would show that it is of it. `no-lookup`: the
 * interface has none for this operation.
 */
export const LOOKUP_SAYS = ['shown', 'other', 'absent', 'cannot-tell', 'proves-nothing', 'no-lookup'] as const;
export type LookupSays = (typeof LOOKUP_SAYS)[number];

/** What trusted events say about a POST. `other`: they differ from what we sent, or exclude it. */
export const TRUSTED_SAY = ['nothing', 'shown', 'other'] as const;
export type TrustedSay = (typeof TRUSTED_SAY)[number];

/** Everything that is known about one POST. */
export interface PostEvidence {
  readonly claim: ClaimSays;
  readonly lookup: LookupSays;
  readonly trusted: TrustedSay;
  /**
   * An untrusted event claims that the POST was executed. It proves nothing, but vetoes what we would do by ourselves.
   */
  readonly untrusted: boolean;
  /** The service itself answered that it knows the reference. */
  readonly saidToExist: boolean;
  /** The settle window is over, and the lookup gave the same answer for all of it. */
  readonly windowOver: boolean;
  /** The flow's deadline has passed: from then on a person alone gives it more time. */
  readonly overdue: boolean;
}

/** In which phases of its claim a POST cannot have been executed. */
const NEVER_EXECUTED = {
  free: true,
  reserved: true,
  ordered: false,
  sending: false,
  answered: false,
  rejected: true,
  void: true,
} as const satisfies Record<ClaimSays, boolean>;

/** Whether the service executed the POST. `other`: its record under the reference is not ours. */
export function executed(post: PostEvidence): Evidence | 'other' {
  if (post.claim === 'answered' || post.lookup === 'shown' || post.trusted === 'shown') return 'shown';
  if (post.lookup === 'other' || post.trusted === 'other') return 'other';
  if (NEVER_EXECUTED[post.claim]) return 'absent';
  return post.lookup === 'absent' && post.windowOver && !post.saidToExist ? 'absent' : 'cannot-tell';
}

/** How much longer than our own timeout a POST may be in progress: a slow service may commit after we gave up. */
const SETTLE_MARGIN_MS = 60_000;

/** How long a POST whose outcome is unknown is looked up before it counts as not found, unscaled; ms. */
export const settleWindowMs = (serviceTimeoutMs: number): number => serviceTimeoutMs + SETTLE_MARGIN_MS;

/**
 * How the service treats a repeated reference, by the setting `DUPLICATE_REFERENCE`. `unknown`: never sent again without
 * a person's order. `same-result` and `rejected`: a repeat is safe.
 */
export const REPEATS = ['unknown', 'same-result', 'rejected'] as const;
export type Repeat = (typeof REPEATS)[number];

/** The next step of a flow about a POST, without a person. */
export type PostStep =
  /** The first send, right after its claim was marked. */
  | { readonly do: 'send' }
  /** Another send that the setting allows. */
  | { readonly do: 'repeat' }
  /** The service has it: follow its status. */
  | { readonly do: 'follow' }
  /** The service refused it: the flow ends, unless `refusedStep` asks a person. */
  | { readonly do: 'end-rejected' }
  /** It was given up before it was sent. */
  | { readonly do: 'end-not-sent' }
  | { readonly do: 'ask-on' }
  | { readonly do: 'park'; readonly reason: PostParkReason };

export type PostParkReason = 'duplicate_mismatch' | 'not_found_at_service' | 'could_not_ask' | 'unknown_outcome';

/** The next step of a flow about a POST, without a person, from all that is known about it. */
export function postStep(post: PostEvidence, repeat: Repeat): PostStep {
  const known = executed(post);
  if (known === 'shown') return { do: 'follow' };
  if (known === 'other') return { do: 'park', reason: 'duplicate_mismatch' };
  if (post.claim === 'rejected') return { do: 'end-rejected' };
  if (post.claim === 'void') return { do: 'end-not-sent' };
  if (post.claim !== 'ordered' && maySend(post)) return { do: 'send' };
  if (!post.windowOver) return { do: 'ask-on' };
  if (repeat !== 'unknown' && mayRepeat(post)) return { do: 'repeat' };
  return { do: 'park', reason: parkReasonOf(post.lookup) };
}

/**
 * Whether a POST may be sent at this moment whose claim is reserved for it: the first send, also with a new quote after
 * the rate expired, or another send that was ordered.
 */
export function maySend(post: PostEvidence): boolean {
  const known = executed(post);
  const isReserved = post.claim === 'free' || post.claim === 'reserved' || post.claim === 'ordered';
  return isReserved && known !== 'shown' && known !== 'other';
}

/** If the lookup can prove that there is nothing, it must have said so; else the setting alone allows the repeat. */
function mayRepeat({ lookup, untrusted, saidToExist, trusted, overdue }: PostEvidence): boolean {
  if (untrusted || saidToExist || trusted !== 'nothing' || overdue) return false;
  return lookup === 'absent' || lookup === 'proves-nothing' || lookup === 'no-lookup';
}

/** Why a flow without proof parks, by the result of the lookup. */
export const parkReasonOf = (lookup: LookupSays): PostParkReason => WHY_PARKED[lookup];

const WHY_PARKED = {
  shown: 'unknown_outcome',
  other: 'duplicate_mismatch',
  absent: 'not_found_at_service',
  'cannot-tell': 'could_not_ask',
  'proves-nothing': 'unknown_outcome',
  'no-lookup': 'unknown_outcome',
} as const satisfies Record<LookupSays, PostParkReason>;

/**
 * What is known of the POSTs of a claim before the one at hand. `turned-away`: the service answered each of them, in its
 * own words, as not executed. `unknown`: one may have been executed.
 */
export const SENT_BEFORE = ['nothing', 'turned-away', 'unknown'] as const;
export type SentBefore = (typeof SENT_BEFORE)[number];

/** What is known of a POST that the service refused in its own words. */
export interface RefusalEvidence {
  /** `absent`: three times over ten seconds. */
  readonly lookup: LookupSays;
  readonly before: SentBefore;
  /** Its words are about the reference, which the service may know from an earlier copy of the POST. */
  readonly isAboutReference: boolean;
  /** Its words are about a rate that expired, which an earlier copy of the POST may have used up. */
  readonly isRateExpired: boolean;
}

/**
 * Whether the refusal shows that nothing was executed: something on the way may have sent the POST twice, and the refusal
 * is of the second copy.
 */
export function refusalStands({ lookup, before, isAboutReference, isRateExpired }: RefusalEvidence): boolean {
  if (before === 'unknown' || isAboutReference) return false;
  return lookup === 'absent' || (lookup === 'no-lookup' && !isRateExpired);
}

/** The refusals of a claim whose every POST the service answered as not executed. */
export const TURNED_AWAY = { before: 'turned-away', isAboutReference: false, isRateExpired: false } as const;

/** What may be done right before a repeat, by the lookup that is made then. */
export type BeforeRepeat = 'follow' | 'send' | 'wait' | 'ask-person';

/** @param skipLookup the person who ordered it was shown that the lookup cannot tell */
export function beforeRepeat(lookup: LookupSays, skipLookup: boolean): BeforeRepeat {
  switch (lookup) {
    case 'shown':
      return 'follow';
    case 'other':
      return 'ask-person';
    case 'cannot-tell':
      return skipLookup ? 'send' : 'wait';
    case 'absent':
    case 'proves-nothing':
    case 'no-lookup':
      return 'send';
    default:
      return lookup satisfies never;
  }
}

/** How a payment ended, in one word. */
export const ENDINGS = ['completed', 'failed', 'refunded'] as const;
export type Ending = (typeof ENDINGS)[number];

/** Everything that is known about the ending of a payment that the service has. */
export interface EndEvidence {
  /** By trusted events, or by the lookup, if there is one. */
  readonly proven: readonly Ending[];
  /** By untrusted events: each may be true, and each may be forged. */
  readonly claimed: readonly Ending[];
  /** Whether we hold money that a failure would oblige us to send back. `absent` only on an explicit statement. */
  readonly fundsHeld: Evidence;
}

/** The endings that words of these meanings prove. A payment that fails and is to be refunded has failed. */
export function endingsOf(meanings: readonly Meaning[]): readonly Ending[] {
  const proven = meanings.map((meaning) => ENDING_OF[meaning]);
  return ENDINGS.filter((ending) => proven.includes(ending));
}

const ENDING_OF: Readonly<Partial<Record<Meaning, Ending>>> = {
  succeeded: 'completed',
  failed: 'failed',
  'refund-pending': 'failed',
  refunded: 'refunded',
};

/** Whether these meanings show that money was collected or came back: against them no flow says that nothing moved. */
function saysMoneyMoved(meanings: readonly Meaning[]): boolean {
  return meanings.some((meaning) =>
    ['succeeded', 'collected', 'funds-held', 'refunded', 'refund-failed'].includes(meaning),
  );
}

/** The state of a payment by everything that was proven, and by what trusted events reported in addition. */
export type PaymentState =
  | { readonly kind: 'open' }
  | { readonly kind: 'ended'; readonly meaning: FinalMeaning }
  | { readonly kind: 'funds-held' }
  | { readonly kind: 'conflict' };

export type FinalMeaning = Exclude<Meaning, 'pending' | 'collected' | 'funds-held' | 'refund-pending'>;

/** How far each meaning is: the furthest proven one decides, so that order cannot matter. */
const ORDER: readonly Meaning[] = [
  'pending',
  'collected',
  'succeeded',
  'failed',
  'funds-held',
  'refund-pending',
  'refund-failed',
  'refunded',
];

/** Meanings that may come before a success: every other one excludes it. */
const BEFORE_SUCCESS: readonly Meaning[] = ['pending', 'collected', 'succeeded'];

/**
 * @param proven by the status lookup, or by trusted events if there is none
 * @param byEvents from trusted events; if a lookup exists it decides, unless the two exclude one another
 */
export function paymentStateOf(proven: readonly Meaning[], byEvents: readonly Meaning[]): PaymentState {
  const all = [...proven, ...byEvents];
  // A success excludes every meaning of failure and refund.
  if (all.includes('succeeded') && proven.length > 0 && all.some((meaning) => !BEFORE_SUCCESS.includes(meaning))) {
    return proven.some(isFinal) ? { kind: 'conflict' } : { kind: 'open' };
  }
  const furthest = ORDER.findLast((meaning) => proven.includes(meaning)) ?? 'pending';
  if (furthest === 'pending' || furthest === 'collected' || furthest === 'refund-pending') return { kind: 'open' };
  if (furthest === 'funds-held') return { kind: 'funds-held' };
  // A failure says that nothing was collected, while money that came back was.
  if (furthest === 'failed' && saysMoneyMoved(all)) return { kind: 'conflict' };
  return { kind: 'ended', meaning: furthest };
}

export type EndStep =
  | { readonly do: 'wait' }
  | { readonly do: 'end'; readonly as: Ending }
  /** A refund is due, or cannot be ruled out: wait for the service's refund, then park or send ours. */
  | { readonly do: 'refund' }
  /** What is proven or claimed is contradictory. */
  | { readonly do: 'park'; readonly reason: 'conflict' };

/**
 * What the proven endings say together; null: nothing yet. FAILED → REFUNDED is the only legal move between endings; a
 * completion excludes both.
 */
export function endingByProof(proven: readonly Ending[]): Ending | 'conflict' | null {
  const completed = proven.includes('completed');
  const failed = proven.includes('failed');
  const refunded = proven.includes('refunded');
  if (completed) return failed || refunded ? 'conflict' : 'completed';
  if (refunded) return 'refunded';
  return failed ? 'failed' : null;
}

export function endStep({ proven, claimed, fundsHeld }: EndEvidence): EndStep {
  const ending = endingByProof(proven);
  if (ending === null) return { do: 'wait' };
  if (ending === 'conflict') return { do: 'park', reason: 'conflict' };
  if (ending !== 'failed') return { do: 'end', as: ending };
  if (fundsHeld !== 'absent') return { do: 'refund' };
  return contradictsFailure(claimed) ? { do: 'park', reason: 'conflict' } : { do: 'end', as: 'failed' };
}

/**
 * How the flow of a POST ends that the service refused, if no lookup decides: like a proven failure of which nothing is
 * held.
 */
export const refusedStep = (claimed: readonly Ending[]): EndStep =>
  endStep({ proven: ['failed'], claimed, fundsHeld: 'absent' });

/** An untrusted event is no proof, but enough to keep us from failing or refunding a payment by ourselves. */
export function contradictsFailure(claimed: readonly Ending[]): boolean {
  return claimed.includes('completed') || claimed.includes('refunded');
}

/** What must hold for a refund by us, in addition to what was proven and claimed. */
export interface RefundEvidence extends EndEvidence {
  /** The input allows it (`refund.auto`), or a person ordered it. */
  readonly by: 'input' | 'person';
  /** Amount, token and address are known, sendable, and no more than what came in. */
  readonly termsStand: boolean;
  /** The failure says that the service's own refund is done or in progress, or says so in an unknown word. */
  readonly theirsBegun: boolean;
}

/** Why a refund by us may not be sent; null if it may. */
export function refundRefusal(refund: RefundEvidence): Cause | null {
  if (!refund.proven.includes('failed')) return { code: 'failure_not_proven', text: 'the failure is not proven' };
  if (refund.proven.includes('completed'))
    return { code: 'proven_otherwise', text: 'the payment is proven to have completed' };
  if (refund.proven.includes('refunded'))
    return { code: 'proven_otherwise', text: 'it is proven to have been refunded' };
  if (!refund.termsStand) return { code: 'refund_terms_unknown', text: 'its terms do not stand' };
  if (refund.by === 'person') return null;
  if (refund.fundsHeld !== 'shown')
    return { code: 'payment_not_shown', text: 'nothing shows that the crypto was paid' };
  if (refund.theirsBegun) {
    return { code: 'service_refund_begun', text: "the service's own refund may be done or under way" };
  }
  if (!contradictsFailure(refund.claimed)) return null;
  return { code: 'unverified_event_against_it', text: 'an unverified event claims another ending' };
}

/** What is known about an invoice that we have not paid. `other`: a payment of another amount or currency. */
export const PAID_SAYS = ['paid', 'not-paid', 'other', 'cannot-tell'] as const;
export type PaidSays = (typeof PAID_SAYS)[number];

export interface InvoiceEvidence {
  readonly lookup: PaidSays;
  /** A trusted event says that it was paid. */
  readonly paidByEvent: boolean;
}

/** Whether an invoice was paid by another way. A trusted event against the lookup leaves it open. */
export function paidElsewhere({ lookup, paidByEvent }: InvoiceEvidence): PaidSays {
  return lookup === 'not-paid' && paidByEvent ? 'cannot-tell' : lookup;
}
