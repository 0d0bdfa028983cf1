import type { Rejection } from '../protocol/messages.js';

/** What the service answered to the POST, as it came: for the one that sent it, never for a flow. */
export interface KeptAnswer {
  readonly httpStatus: number;
  readonly contentType: string;
  readonly body: string;
}

/** What identifies a claim: one money-moving operation for one reference of one account at the service. */
export interface ClaimKey {
  readonly account: string;
  readonly operation: string;
  readonly reference: string;
}

/**
 * `reserved(owner)` → `sending` → `answered` or `rejected`.
 * Only the owner moves `reserved → sending`; after `sending` only its owner sends again, after a proven
 * not-sent error. `void`: nothing was sent and nothing ever will be.
 */
export type ClaimPhase = 'reserved' | 'sending' | 'answered' | 'rejected' | 'void';

export interface Claim extends ClaimKey {
  readonly phase: ClaimPhase;
  /** One attempt to send: unguessable, new for each activity attempt. Empty where it was voided before any. */
  readonly owner: string;
  readonly flowId: string;
  /** HMAC-SHA256 of what the caller decides, under the store's own key. */
  readonly fingerprint: string;
  readonly reservedAt: string;
  readonly sendingAt?: string;
  readonly endedAt?: string;
  /** JSON value of the service's answer (`data`); only in `answered`. */
  readonly answer?: unknown;
  /** In `rejected`; in `sending`, a refusal that is not believed yet. */
  readonly rejection?: Rejection;
  /** Absent if the answer was lost, held a card, or could not be written with the claim. */
  readonly kept?: KeptAnswer;
  /** Why it is void. */
  readonly reason?: string;
}

/** A person's order about a claim; kept for ever with the claim. */
export interface ClaimOrder {
  readonly actor: string;
  readonly note: string;
}

/** What an attempt finds when it asks for the right to send. */
export type Reservation =
  /** `sentBefore`: another send was ordered, so an earlier one may have been executed. */
  | { readonly kind: 'reserved'; readonly takenOver: boolean; readonly sentBefore?: true }
  /** Ours, and in `sending`: the POST may leave. */
  | { readonly kind: 'may-send'; readonly takenOver: boolean }
  /** Reserved by this attempt; the guard found what refuses `sending`. */
  | { readonly kind: 'contradicted' }
  /** Nothing was done: this is another store than the attempt's, or an older copy of it. */
  | { readonly kind: 'other-deployment'; readonly store: string; readonly epoch: number }
  | { readonly kind: 'other-fingerprint' }
  | { readonly kind: 'sending'; readonly since: string }
  | { readonly kind: 'answered'; readonly answer: unknown }
  | { readonly kind: 'rejected'; readonly rejection: Rejection }
  | { readonly kind: 'void'; readonly reason: string };

/** Refuses `sending` where the inbox holds a trusted event of this flow with one of these statuses. */
export interface ContradictionGuard {
  readonly flowId: string;
  readonly statuses: readonly string[];
  /** Untrusted ones refuse it, too: for what no person ordered. @default false */
  readonly orUntrusted?: boolean;
  /** Ids of events that do not refuse it: the decision to send rests on them. @default none */
  readonly besides?: readonly string[];
}

export interface ClaimStore {
  /**
   * Asks for the right to send. A new claim, or one that is `reserved` by another attempt (which is thereby fenced
   * off), is ours; every other phase is reported and left alone.
   *
   * @param unless given: a first send goes on to `sending` in the same transaction, as by `markSending`. One that was ordered
   *   by a person stays `reserved`, since it is looked up before
   */
  reserve(
    key: ClaimKey,
    attempt: {
      readonly owner: string;
      readonly flowId: string;
      readonly fingerprint: string;
      /** In which the flow was prepared: where the store's is later, a claim that is absent becomes `sending`. */
      readonly epoch?: number;
      /** Id of the store that the flow belongs to, with `epoch`: another store, or an older copy, does nothing. */
      readonly store?: string;
    },
    unless?: ContradictionGuard,
  ): Promise<Reservation>;

  /** Compare-and-set `reserved(owner) → sending`, durable when it resolves. The guard is read in the same transaction. */
  markSending(
    key: ClaimKey,
    owner: string,
    unless?: ContradictionGuard,
  ): Promise<'sending' | 'fenced' | 'contradicted'>;

  /**
   * `sending(owner) → reserved(owner)`: only after a proven not-sent error. False where it was not ours, or where a person
   * has said meanwhile how its flow ended: then it stays in `sending`, and is not sent.
   */
  release(key: ClaimKey, owner: string): Promise<boolean>;

  /**
   * The service executed it: `answered`, from any phase but `answered`, by any proof (the owner's answer, a status
   * lookup). Returns the phase before, so that an answer after `void` or `rejected` can raise an alarm.
   */
  recordAnswer(key: ClaimKey, answer: unknown, kept?: KeptAnswer): Promise<ClaimPhase | 'absent'>;

  /** The service refused it: `sending(owner) → rejected`. False where it was not ours. */
  recordRejection(key: ClaimKey, owner: string, rejection: Rejection, kept?: KeptAnswer): Promise<boolean>;

  /**
   * The service refused it with words about its reference, which it may know from an earlier copy of the same POST: the
   * claim stays in `sending`, with the refusal, until a lookup shows which it was. False where it was not ours.
   */
  noteRefusal(key: ClaimKey, owner: string, rejection: Rejection, kept?: KeptAnswer): Promise<boolean>;

  /**
   * A person orders that an unknown POST is sent again: the one transition `sending → reserved(newOwner)`, recorded in
   * the same transaction. False where the claim is not in `sending`, where a person has said how its flow ended, or where the
   * owner is not a new one.
   */
  orderSendAgain(key: ClaimKey, newOwner: string, order: ClaimOrder): Promise<boolean>;

  /**
   * A person declares that a POST was never executed: `sending` or `reserved` → `void`. False where it is in neither.
   *
   * @param sentUntilMs given: one that went to `sending` later may still be under way, and is left alone
   */
  closeNotExecuted(key: ClaimKey, order: ClaimOrder, sentUntilMs?: number): Promise<boolean>;

  /**
   * Absent or `reserved` → `void`, so that no attempt, however late, can send; but absent → `sending`, where the flow was
   * prepared in an earlier epoch. Otherwise nothing changes and the claim's
   * phase is returned: also where it is `reserved` for another send, since the first one may have been executed.
   */
  voidUnsent(
    key: ClaimKey,
    attempt: { readonly flowId: string; readonly fingerprint: string; readonly epoch?: number },
    reason: string,
  ): Promise<ClaimPhase>;

  /**
   * A person's word on how a flow ended that can no longer take an order itself (it was terminated): kept with the claim,
   * whose phase stays; only one that is `reserved` for another send goes back to `sending`, so that it is not sent. False
   * where there is no claim.
   */
  recordDecision(key: ClaimKey, action: string, order: ClaimOrder): Promise<boolean>;

  get(key: ClaimKey): Promise<Claim | undefined>;

  /** Every claim of one flow, oldest first. */
  ofFlow(flowId: string): Promise<readonly Claim[]>;

  orders(key: ClaimKey): Promise<readonly (ClaimOrder & { readonly action: string; readonly at: string })[]>;
}
