import type { ClaimSays, LookupSays, Repeat } from '../src/flows/decisions.js';
import type { Rejection } from '../src/store/claim.js';

/** What the flow's first activity pinned into the flow: the deployment that it belongs to. */
export interface Pin {
  /** Of the store. */
  readonly store: string;
  readonly account: string;
  readonly epoch: number;
}

/** Which claim, and what the caller decided, as a fingerprint that only the store's key can make. */
export interface ClaimRef {
  readonly operation: string;
  readonly reference: string;
  readonly flowId: string;
  readonly fingerprint: string;
  readonly pin: Pin;
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
  /** A trusted event in the inbox shows it done, or excludes it: it was not sent. */
  | { readonly kind: 'contradicted' };

/** `DUPLICATE_REFERENCE` of the operation: what the service does with a repeated reference, as far as is known. */
export type RepeatSetting = Repeat;

/** What the claim and the status lookup say of a POST. */
export interface PostReading {
  readonly claim: ClaimSays;
  readonly lookup: LookupSays;
  /** The service's answer, by the claim or by the lookup. */
  readonly answer?: unknown;
  readonly rejection?: Rejection;
  /** Both sides, where the service knows the reference with other facts. */
  readonly ours?: Facts;
  readonly theirs?: Facts;
  /** Why the claim is void, or why the lookup tells nothing. */
  readonly why?: string;
}

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
  /** Start-to-close of a money POST's attempt, longer than the client's timeout. Undefined: by `policies.ts`. */
  readonly attemptMs?: number;
  /** An attempt without a heartbeat for so long counts as dead. Undefined: by `policies.ts`. */
  readonly heartbeatMs?: number;
  /** How long an attempt whose input ages (a quote, a card) may wait for a worker. Undefined: by `policies.ts`. */
  readonly startWithinMs?: number;
}
