import type { Rejection } from '../src/store/claim.js';

/** Which claim, and what the caller decided, as a fingerprint that only the store's key can make. */
export interface ClaimRef {
  readonly operation: string;
  readonly reference: string;
  readonly flowId: string;
  readonly fingerprint: string;
}

/** What came of one attempt to submit. Every way of it, so that nobody has to guess from an error. */
export type SubmitOutcome =
  /** The service executed it. `recorded: false`: the claim still has to be told. */
  | { readonly kind: 'accepted'; readonly answer: unknown; readonly recorded: boolean }
  | { readonly kind: 'rejected'; readonly rejection: Rejection; readonly owner: string; readonly recorded: boolean }
  /**
   * A POST was sent, or may have been: its outcome cannot be told from here. `refused`: how another send of it was
   * refused, which says nothing of the earlier one.
   */
  | {
      readonly kind: 'unknown';
      readonly reason: string;
      readonly repeat: RepeatSetting;
      readonly refused?: string;
    }
  /** The service says that it knows this reference already. */
  | { readonly kind: 'duplicate'; readonly repeat: RepeatSetting }
  /** The quote's life ran out; nothing was sent, or the service refused it as expired. */
  | { readonly kind: 'quote-expired'; readonly by: 'us' | 'service' }
  /** Another request was made under this reference. */
  | { readonly kind: 'other-request' }
  /** The claim was voided before anything was sent. */
  | { readonly kind: 'void'; readonly reason: string }
  /** A trusted event in the inbox contradicts this refund. */
  | { readonly kind: 'contradicted' };

/** `DUPLICATE_REFERENCE` of the operation: what the service does with a repeated reference, as far as is known. */
export type RepeatSetting = 'unknown' | 'same-result' | 'rejected';

/** What the claim and the status lookup say of a POST whose answer was lost. */
export type UnknownSettled =
  | { readonly kind: 'accepted'; readonly answer: unknown; readonly by: 'claim' | 'lookup' }
  | { readonly kind: 'rejected'; readonly rejection: Rejection }
  /** The service knows the reference, with other facts. */
  | { readonly kind: 'mismatch'; readonly ours: Facts; readonly theirs: Facts }
  /**
   * Nothing was found for the whole settle window. `lookup: false`: there was nothing to ask. `inconclusive`: there is a
   * record, and it may be older than the POST.
   */
  | { readonly kind: 'not-found'; readonly lookup: boolean; readonly inconclusive?: true }
  | { readonly kind: 'void'; readonly reason: string };

export type Facts = Readonly<Record<string, string>>;

/** A quote as the flow keeps it. */
export interface Quote {
  readonly rateId: string;
  /** What the customer's fiat gives, in `cryptoUnit`; decimal string. Null where the caller brought the rate id. */
  readonly cryptoAmount: string | null;
  readonly cryptoUnit: string | null;
  /** Milliseconds from the quote's creation to its end, by the service's own clock. */
  readonly lifeMs: number;
}

/** Durations that the settings decide; milliseconds. */
export interface Windows {
  /** How long an unknown POST is looked up before it counts as not found: the client's timeout and 60 s. */
  readonly settleMs: number;
}
