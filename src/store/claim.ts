import type { ClaimState, Phase } from '../protocol/claim-table.js';
import type { SentBefore } from '../protocol/decisions.js';
import type { InboxRow } from '../protocol/events.js';
import type { Rejection } from '../protocol/messages.js';

/** The service's raw answer to the POST: for its sender, never for a flow. */
export interface KeptAnswer {
  readonly httpStatus: number;
  readonly contentType: string;
  readonly body: string;
}

/** Identifies a claim: one money-moving operation for one reference of one account at the service. */
export interface ClaimKey {
  readonly account: string;
  readonly operation: string;
  readonly reference: string;
}

/**
 * `reserved(owner)` → `sending` → `answered` or `rejected`. Only the owner moves `reserved → sending`; after `sending`
 * only its owner hands it back: after a proven not-sent error, or if the service says that it did not execute it.
 * `void`: nothing was executed and nothing ever will be.
 */
export type ClaimPhase = Exclude<Phase, 'absent'>;

export interface Claim extends ClaimKey {
  readonly phase: ClaimPhase;
  /**
   * One attempt to send: unguessable, new for each activity attempt. Empty if the claim was voided before any attempt.
   */
  readonly owner: string;
  readonly flowId: string;
  /** HMAC-SHA256 of what the caller decides, under the store's own key. */
  readonly fingerprint: string;
  readonly reservedAt: string;
  readonly sendingAt?: string;
  readonly endedAt?: string;
  /** How many of its POSTs the service answered, in its own words, as not executed. Absent: none. */
  readonly turnedAway?: number;
  /** What is known of the POSTs that left under it, also of those before it was closed. */
  readonly sent: SentBefore;
  /** JSON value of the service's answer (`data`); only in `answered`. */
  readonly answer?: unknown;
  /** In `rejected`; in `sending`, a refusal that is not confirmed yet. */
  readonly rejection?: Rejection;
  /** Absent if the answer was lost, held a card, or could not be written with the claim. */
  readonly kept?: KeptAnswer;
  /** Why it is void. */
  readonly reason?: string;
  /** The service answered or refused it, but what it said was erased. */
  readonly erased?: true;
}

/** The claim of a flow that may never have asked for it. */
export interface UnsentClaim {
  readonly flowId: string;
  readonly fingerprint: string;
  /** The epoch in which the flow was prepared. */
  readonly epoch?: number;
  /** Nothing was executed if no more of its POSTs than these left, all turned away by the service. @default 0 */
  readonly turnedAway?: number;
}

/** A person's order about a claim; kept for ever with the claim. */
export interface ClaimOrder {
  readonly actor: string;
  readonly note: string;
  /** Of an order to send again: it is carried out once for ever. @default it is the setting's, and no person's */
  readonly id?: string;
}

/** The result of an attempt's request for the right to send. */
export type Reservation =
  /**
   * `sentBefore`: this send is a repeat. `unknown`: it was ordered, so an earlier one may have been executed.
   * `turned-away`: the service answered every earlier one as not executed.
   */
  | { readonly kind: 'reserved'; readonly takenOver: boolean; readonly sentBefore?: 'turned-away' | 'unknown' }
  /** Ours, and in `sending`: the POST may leave. */
  | { readonly kind: 'may-send'; readonly takenOver: boolean }
  /** Reserved by this attempt; the guard found an event that forbids `sending`. */
  | { readonly kind: 'contradicted' }
  /** Reserved by this attempt; a webhook under the flow's reference is not matched yet, and may forbid `sending`. */
  | { readonly kind: 'unmatched' }
  /** Nothing was done: this is a different store than the attempt's, or an older copy of it. */
  | { readonly kind: 'other-deployment'; readonly store: string; readonly epoch: number }
  | { readonly kind: 'other-fingerprint' }
  | { readonly kind: 'sending'; readonly since: string }
  /** `isRepeat`: more than one POST of it may have left. */
  | { readonly kind: 'answered'; readonly answer: unknown; readonly isRepeat?: true }
  | { readonly kind: 'rejected'; readonly rejection: Rejection }
  | { readonly kind: 'void'; readonly reason: string; readonly sent: SentBefore };

/**
 * Forbids `sending`, or a person's last word, if the inbox holds a trusted event of this flow with one of these statuses,
 * or a webhook under the flow's reference that is not matched with a flow yet.
 */
export interface ContradictionGuard {
  readonly flowId: string;
  /** @default any, and none at all */
  readonly statuses?: readonly string[] | undefined;
  /** Untrusted events forbid it as well: for sends that no person ordered. @default false */
  readonly orUntrusted?: boolean;
  /** Ids of events, as their flow knows them, that do not forbid it: the decision rests on them. @default none */
  readonly besides?: readonly string[];
  /** Only events that the flow has yet to take: those that it never takes forbid nothing for ever. @default false */
  readonly untaken?: boolean;
}

/** Which claims in `sending` may be another POST than the one that an order is about, or still under way. */
export interface SentLately {
  /** A claim that went to `sending` less than this ago, by the store's clock, may be under way. @default 0 */
  readonly windowMs?: number;
  /** When the order was given: a claim that went to `sending` later is another POST. @default none is */
  readonly sentUntilMs?: number;
}

/** What is under way forbids it as well. */
export interface ClosingGuard extends ContradictionGuard, SentLately {}

/** Whether an operation changed its claim, and what the claim is after it, by the same transaction. */
export interface Changed extends ClaimState {
  readonly isDone: boolean;
}

/** What a flow has judged of its inbox. */
export interface Judged {
  readonly flowId: string;
  /** Ids of the events, as the flow knows them. */
  readonly reviewedEventIds: readonly string[];
}

export interface AllVoided {
  /** All claims are void, or were rejected, and nothing had come. */
  readonly isDone: boolean;
  readonly claims: readonly ClaimAfter[];
  /** The events of the flow, oldest first; of the untrusted ones as many as it takes. */
  readonly events: readonly InboxRow[];
  /** A webhook under the reference is not matched yet, and may be one of them. */
  readonly hasToMatch: boolean;
}

/** A claim after an operation on several. */
export type ClaimAfter = ClaimKey & ClaimState;

/** Neither under way nor executed, as far as was known when it reached this phase. */
export const isOver = (phase: Phase | undefined): boolean => phase === 'void' || phase === 'rejected';

/** The state of a claim before its answer was recorded. */
export interface BeforeAnswer {
  readonly before: ClaimPhase | 'absent';
  /** A person's decision on how its flow ended; null if there is none. */
  readonly lastWord: string | null;
}

/** Orders about a claim after which its flow goes on. Every other one says how the flow ended. */
export const NO_LAST_WORDS: readonly string[] = ['send-again', 'held-back'];

export interface ClaimStore {
  /**
   * Requests the right to send. A new claim, or one that another attempt has `reserved` (which is thereby fenced off),
   * becomes ours; every other phase is reported and left alone.
   *
   * @param unless given: a first send continues to `sending` in the same transaction, as by `markSending`. A send that
   * a person ordered stays `reserved`, since it is looked up first
   */
  reserve(
    key: ClaimKey,
    attempt: {
      readonly owner: string;
      readonly flowId: string;
      readonly fingerprint: string;
      /** The epoch in which the flow was prepared: if the store's is later, an absent claim becomes `sending`. */
      readonly epoch?: number;
      /**
       * Id of the store that the flow belongs to, with `epoch`: in another store, or an older copy, nothing is done.
       */
      readonly store?: string;
    },
    unless?: ContradictionGuard,
  ): Promise<Reservation>;

  /** Compare-and-set `reserved(owner) → sending`, durable when it resolves. The guard is read in the same transaction. */
  markSending(
    key: ClaimKey,
    owner: string,
    unless?: ContradictionGuard,
  ): Promise<'sending' | 'fenced' | 'contradicted' | 'unmatched'>;

  /**
   * `sending(owner) → reserved(owner)`: only after a proven not-sent error. Not done if the claim was not ours, or if a
   * person has decided meanwhile how its flow ended: then it stays in `sending`, and is not sent.
   */
  release(key: ClaimKey, owner: string): Promise<Changed>;

  /**
   * The same after the service answered, in its own words, that it did not execute it: the claim remembers that a POST
   * left, and another send is a repeat.
   */
  turnAway(key: ClaimKey, owner: string): Promise<Changed>;

  /**
   * The service executed it: `answered`, from any phase but `answered`, by any proof (the owner's answer, a status
   * lookup). Returns the state before, so that an answer that contradicts it can raise an alarm.
   */
  recordAnswer(key: ClaimKey, answer: unknown, kept?: KeptAnswer): Promise<BeforeAnswer>;

  /** The service refused it: `sending(owner) → rejected`. Not done if the claim was not ours. */
  recordRejection(key: ClaimKey, owner: string, rejection: Rejection, kept?: KeptAnswer): Promise<Changed>;

  /**
   * The service refused it with words about its reference, which it may know from an earlier copy of the same POST: the
   * claim stays in `sending`, with the refusal, until a lookup decides. Not done if the claim was not ours.
   */
  noteRefusal(key: ClaimKey, owner: string, rejection: Rejection, kept?: KeptAnswer): Promise<Changed>;

  /**
   * Nothing speaks against a refusal that was noted: `sending → rejected`. Not done if none was noted, or if the guard
   * finds an event, which is read in the same transaction.
   */
  confirmRefusal(key: ClaimKey, unless: ContradictionGuard): Promise<Changed>;

  /**
   * A person orders that an unknown POST is sent again: the only transition `sending → reserved(newOwner)`, recorded in
   * the same transaction. Not done if the claim is not in `sending`, or lately, if a person has decided how its flow ended,
   * if the owner is not a new one, or if an order of the same id was carried out before.
   */
  orderSendAgain(key: ClaimKey, newOwner: string, order: ClaimOrder, lately?: SentLately): Promise<Changed>;

  /**
   * A person declares that a POST was never executed: `sending`, but not lately, or `reserved` → `void`. Not done in other
   * phases.
   */
  closeNotExecuted(key: ClaimKey, order: ClaimOrder, lately?: SentLately): Promise<Changed>;

  /**
   * Absent or `reserved` → `void`, so that no attempt, however late, can send; but absent → `sending` if the flow was
   * prepared in an earlier epoch. Otherwise nothing changes: also if it is `reserved` for another send, since the first
   * one may have been executed. Returns what the claim is then.
   */
  voidUnsent(key: ClaimKey, attempt: UnsentClaim, reason: string): Promise<ClaimState<ClaimPhase>>;

  /**
   * An end that says that nothing moved: voids all claims of its flow, at once, if the inbox of the flow holds nothing but
   * what it has judged, if no webhook waits to be matched under its reference, and if none of the claims is in the way
   * (`isInTheWay`), also as one that a person closed after it was sent. Otherwise nothing changes. Returns what it read.
   */
  voidAll(
    claims: readonly (UnsentClaim & { readonly key: ClaimKey })[],
    reason: string,
    judged: Judged,
  ): Promise<AllVoided>;

  /**
   * A person's decision on how a flow ended, as by `voidUnsent` and `recordDecision` for all its claims: at once, and
   * only if the guard finds nothing, which is read in the same transaction. Otherwise nothing changes. Repeating the
   * same order returns `closed` whatever came since.
   */
  closeByOrder(
    claims: readonly (UnsentClaim & { readonly key: ClaimKey })[],
    action: string,
    order: ClaimOrder,
    unless: ClosingGuard,
  ): Promise<{
    readonly kind: 'closed' | 'contradicted' | 'unmatched' | 'under-way';
    readonly claims: readonly ClaimAfter[];
  }>;

  /**
   * Keeps a decision with the claim, whose phase stays; only one that is `reserved` for another send goes back to
   * `sending`, so that it is not sent. Not done if there is no claim.
   */
  recordDecision(key: ClaimKey, action: string, order: ClaimOrder): Promise<Changed>;

  get(key: ClaimKey): Promise<Claim | undefined>;

  /** Every claim of one flow, or of several, oldest first. What cannot be decrypted is left out of them. */
  ofFlow(...flowIds: readonly string[]): Promise<readonly Claim[]>;

  orders(key: ClaimKey): Promise<readonly (ClaimOrder & { readonly action: string; readonly at: string })[]>;

  /**
   * Clears what the service said to claims that ended before that moment; phases and fingerprints stay, and block
   * another send as before. Returns how many.
   */
  purgeAnswers(before: Date): Promise<number>;
}
