import type { ClaimSays, LookupSays, PaidSays, Repeat, SentBefore } from '../src/protocol/decisions.js';
import type { BridgeStatus } from '../src/contract/vocabulary.js';
import type { OtherRecord } from '../src/flows/echoes.js';
import type { BridgeTransferInput } from '../src/flows/bridge-transfer.js';
import type { Profile } from '../src/protocol/live-operations.js';
import type { FlowTerms, Parked } from '../src/api/flow.js';
import type { OrderProof, Rejection } from '../src/protocol/messages.js';

/** The deployment that the flow belongs to, and what its service can do, pinned into the flow by its first activity. */
export interface Pin extends Profile {
  /** Of the store. */
  readonly store: string;
  readonly account: string;
  readonly epoch: number;
}

/** The order for a flow's first activity: check the input, and pin the deployment. */
export interface PreparationOrder {
  readonly flowId: string;
  readonly input: unknown;
  /** This run starts again what an earlier run had begun: the flow was reset in the UI. @default false */
  readonly wasReset?: boolean;
  /**
   * The fingerprint that the flow was started with; null: none. Only a process with the store's key can make it, so it
   * shows that a gateway started the flow. Undefined: not known.
   */
  readonly startedWith?: string | null;
}

/** An order that came to a flow by an update. */
export interface OrderToAdmit {
  readonly flowId: string;
  readonly update: string;
  readonly action: string;
  readonly order: { readonly actor: string; readonly proof?: OrderProof; readonly note?: string };
  /** The flow's checked input: for rules that depend on its amount. */
  readonly input?: unknown;
  /** Why the flow is parked at that moment. */
  readonly parked?: Pick<Parked, 'reason' | 'since' | 'evidence'>;
}

/** `by`: the actor as the timeline shows it. */
export type OrderVerdict =
  { readonly kind: 'admitted'; readonly by: string } | { readonly kind: 'refused'; readonly why: string };

/** Which claim, and a fingerprint of what the caller decided, which needs the store's key. */
export interface ClaimRef {
  readonly operation: string;
  readonly reference: string;
  readonly flowId: string;
  readonly fingerprint: string;
  readonly pin: Pin;
}

/** The result of one attempt to submit. All cases are listed, so that no caller has to guess from an error. */
export type SubmitOutcome =
  /**
   * The service executed it. `recorded: false`: the answer is not written to the claim yet. `byLookup`: the answer is
   * the record of the service, and no answer to this POST. `isRepeat`: more than one POST of it may have left.
   */
  | {
      readonly kind: 'accepted';
      readonly answer: unknown;
      readonly recorded: boolean;
      readonly byLookup?: true;
      /** It is of another request. */
      readonly other?: OtherRecord | undefined;
      readonly isRepeat?: true;
    }
  | { readonly kind: 'rejected'; readonly rejection: Rejection; readonly owner: string; readonly recorded: boolean }
  /**
   * A POST was or may have been sent, and its outcome is unknown. `refused`: how a second send of it was refused, which
   * says nothing about the first.
   */
  | {
      readonly kind: 'unknown';
      readonly reason: string;
      readonly repeat: Repeat;
      readonly refused?: string;
    }
  /** The service says that it knows this reference already. */
  | { readonly kind: 'duplicate'; readonly repeat: Repeat }
  /** The quote expired, and it was not sent with that. */
  | { readonly kind: 'quote-expired' }
  /** Another request was made under this reference. */
  | { readonly kind: 'other-request' }
  /** The claim is void. `sent`: what is known of the POSTs that left before. */
  | { readonly kind: 'void'; readonly reason: string; readonly sent: SentBefore }
  /** The lookup shows that what this POST is for was done in another way: it was not sent. */
  | { readonly kind: 'done-elsewhere'; readonly found: PaidReading }
  /** A trusted event in the inbox shows it done, or excludes it: it was not sent. */
  | { readonly kind: 'contradicted' };

/** What the lookup says about an invoice that we have not paid. */
export interface PaidReading {
  readonly says: PaidSays;
  readonly reading?: StatusReading;
  /** Why it is not known. */
  readonly why?: string;
}

/** What the claim and the status lookup say of a POST. */
export interface PostReading {
  readonly claim: ClaimSays;
  readonly lookup: LookupSays;
  /** The service's answer, by the claim or by the lookup. */
  readonly answer?: unknown;
  /** The answer is of another request. */
  readonly other?: OtherRecord | undefined;
  readonly rejection?: Rejection;
  /** Both sides, if the service knows the reference with other facts. */
  readonly ours?: Facts;
  readonly theirs?: Facts;
  /** Why the claim is void, or why the lookup shows nothing. */
  readonly why?: string;
}

/**
 * The facts that can be compared between an event, a service's record, and what we know; amounts as decimal strings.
 */
export type Facts = Readonly<Record<string, string>>;

/** A quote as the flow keeps it. */
export interface Quote {
  readonly rateId: string;
  /**
   * The crypto amount for the customer's fiat, in `cryptoUnit`; decimal string. Null if the caller gave the rate id.
   */
  readonly cryptoAmount: string | null;
  readonly cryptoUnit: string | null;
  /** Milliseconds from the quote's creation to its end, by the service's own clock. */
  readonly lifeMs: number;
  /** What the service says it costs, for a person. */
  readonly fee?: string;
}

/** Durations that the settings decide; milliseconds. */
export interface Windows {
  /** How long an unknown POST is looked up before it counts as not found: the client's timeout and 60 s. */
  readonly settleMs: number;
  /** The client's timeout of a money POST when the flow began: no worker's own setting makes it longer. */
  readonly postMs?: number;
  /** Start-to-close of a money POST's attempt, longer than the client's timeout. Undefined: by `policies.ts`. */
  readonly attemptMs?: number;
  /** An attempt without a heartbeat for this long counts as dead. Undefined: by `policies.ts`. */
  readonly heartbeatMs?: number;
  /** How long an attempt whose input ages (a quote, a card) may wait for a worker. Undefined: by `policies.ts`. */
  readonly startWithinMs?: number;
}

/** What the first activity of a flow returns. */
export interface FlowPreparation {
  /** Checked and normalised by the kind's definition. */
  readonly input: unknown;
  readonly fingerprint: string;
  readonly windows: Windows;
  readonly pin: Pin;
  readonly allowPlaintext: boolean;
  /** The flow's POSTs by the name of their step, except those whose input comes later. */
  readonly steps: Readonly<Record<string, StepTerms>>;
  readonly terms?: FlowTerms;
}

/** One POST of a flow: its claim, and the facts that events and looked-up records must match. */
export interface StepTerms {
  readonly claim: ClaimRef;
  readonly facts: Facts;
  /** What its request fixes, as its answer may repeat it. */
  readonly fixed: Facts;
}

/** A step whose input came after the start: the flow's input including it, checked and normalised. */
export interface DescribedStep extends StepTerms {
  readonly input: unknown;
}

export interface StepOrder {
  readonly flowId: string;
  /** Name of the submission in the kind's definition. */
  readonly step: string;
  readonly input: unknown;
}

/** A step that is about a claim, which belongs to the flow's own deployment. */
export interface ClaimStepOrder extends StepOrder {
  readonly pin: Pin;
}

/** A step that sends. */
export interface SendStepOrder extends ClaimStepOrder {
  /** A repeat is sent even if the lookup cannot tell. @default false */
  readonly unasked?: boolean;
  /** Ids of the events that the flow has judged: any other trusted event holds it back. */
  readonly reviewedEventIds: readonly string[];
  /** The POST's longest time, ms: `Windows.postMs`. */
  readonly mostMs?: number | undefined;
}

export interface StatusOrder extends Profile {
  readonly flowId: string;
  readonly input: unknown;
  /** The reference by which it is asked. @default the flow's own */
  readonly by?: string;
  /** Statuses that the flow has seen already: they are not reported again. */
  readonly known: readonly string[];
  /** Delay before the first lookup, ms, already scaled; 0 looks up at once. */
  readonly firstLookMs: number;
  readonly timeScale: number;
  /** Shortest time between two lookups, ms, already scaled. @default by the cadence alone */
  readonly atLeastMs?: number;
  /** A person has been asked: poll ever more slowly. @default false */
  readonly isParked?: boolean;
}

export interface StatusReading {
  readonly status: string | null;
  readonly facts: Facts;
}

/**
 * One answer of the status lookup. `no-lookup`: it may not know the reference by which it was asked. `proves-nothing`: its
 * record could be of any payment.
 */
export type StatusEvidence = LookupAnswer<StatusReading> | { readonly says: 'no-lookup' | 'proves-nothing' };

/**
 * Result of the first activity of a bridge transfer: the checked input and everything that the flow needs from outside.
 */
export interface BridgeDepositOrder {
  readonly flowId: string;
  readonly fingerprint: string;
  readonly pin: Pin;
  readonly input: BridgeTransferInput;
  readonly rateId: string;
  /** Workflow time, ms, at which the quote was requested: its life counts from here. */
  readonly quotedAtMs: number;
  /** What a looked-up record must match. @default not looked up: no lookup shows it */
  readonly expect?: Facts | null;
  /** A repeat is sent even if the lookup cannot tell. @default false */
  readonly unasked?: boolean;
  /** How much of the quote's life may be used, ms: its life less the margin. */
  readonly usableMs: number;
  /** Ids of the events that the flow has judged: any other trusted event holds it back. */
  readonly reviewedEventIds: readonly string[];
  /** The POST's longest time, ms: `Windows.postMs`. */
  readonly mostMs?: number | undefined;
}

/** The deposit's answer, as the flow needs it. */
export interface BridgeDepositAnswer {
  readonly serviceReference: string;
  readonly status: string;
  readonly paymentHash: string | null;
  readonly refund: ServiceRefundTerms | null;
}

interface ServiceRefundTerms {
  readonly method: string | null;
  readonly fallbackMethod: string | null;
  readonly fallbackAddress: string | null;
  readonly chain: string | null;
  readonly token: string | null;
  /** Decimal string, in `token`. */
  readonly cryptoAmount: string | null;
  /** Milliseconds from the deposit's creation to the end of its refund invoice; null if the answer has none. */
  readonly lifeMs: number | null;
}

export interface SettlementReportOrder {
  readonly flowId: string;
  /** Inbox row of the provider's trusted settlement. */
  readonly eventId: string;
  /** As which the flow took it. */
  readonly status: BridgeStatus;
  readonly reference: string;
  readonly serviceReference: string | null;
  /** How long to try until the report counts as not received, already scaled, ms. @default for ever */
  readonly patienceMs?: number;
}

/**
 * `refused`: by the service, or (without an HTTP status) by us, because no report can be made of it. `not-taken`: tried
 * for `patienceMs`; the service may yet accept it.
 */
export type ReportOutcome =
  | { readonly kind: 'reported' }
  | { readonly kind: 'refused'; readonly httpStatus: number | null; readonly message: string }
  | { readonly kind: 'not-taken'; readonly message: string };

export interface RefundOrder {
  readonly flowId: string;
  /** `input`: no person ordered this refund, so an untrusted event is enough to hold it back. */
  readonly by: 'input' | 'person';
  readonly pin: Pin;
  /** `{reference}.refund`. */
  readonly reference: string;
  readonly receiverAddress: string;
  readonly chain: string;
  readonly token: string;
  /** Decimal string. */
  readonly cryptoAmount: string;
  /** Ids of the events that the flow has judged: any other event holds the refund back. */
  readonly reviewedEventIds: readonly string[];
  /** A repeat is sent even if the lookup cannot tell. @default false */
  readonly unasked?: boolean;
  /** @default 1 */
  readonly timeScale?: number;
  /** The POST's longest time, ms: `Windows.postMs`. */
  readonly mostMs?: number | undefined;
}

/** A lookup's answer, with its three cases. Nothing else counts as evidence from the service. */
export type LookupAnswer<T> =
  | { readonly says: 'shown'; readonly record: T }
  | { readonly says: 'absent' }
  /** `refused`: by the service itself; otherwise it could not be reached, or its answer could not be read. */
  | { readonly says: 'cannot-tell'; readonly why: string; readonly refused: boolean; readonly afterMs?: number };

/** The outcome of handing a refund invoice over. `unknown`: the service may have it. */
export interface HandOver {
  readonly says: 'taken' | 'refused' | 'not-sent' | 'unknown';
  /** For the person who is asked. */
  readonly why: string | null;
}
