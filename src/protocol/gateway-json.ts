import type { FlowView, Rejection } from './messages.js';
import type { Permission } from './permissions.js';
import type { FlowKind, FlowState, ParkReason } from './vocabulary.js';
import type { CallbackFailure, CallbackState, OpenCircuit } from './callbacks.js';
import type { InboxRow, InboxState } from './events.js';

/** A flow, as the gateway shows it: its own report, its start, and the proposal that waits for a second person. */
export interface Flow extends FlowWithMoney {
  /** An order that waits for a second person. */
  readonly proposal: ProposedOrder | null;
  /** What came after the flow, and says otherwise; null if nothing did. */
  readonly contradicted: ContradictedJson | null;
}

/** The state of a contradicted flow is what it was told; where the money is, its evidence says. */
export interface ContradictedJson {
  readonly since: string;
  /** Oldest first. */
  readonly evidence: readonly ContradictionJson[];
  /** Null while it waits for a person. */
  readonly acknowledged: { readonly at: string; readonly by: string } | null;
}

export interface ContradictionJson {
  /** `late_event_contradicts` or `late_answer_contradicts`. */
  readonly kind: string;
  readonly at: string;
  /** How the flow had ended. */
  readonly ended: string | null;
  readonly eventId: string | null;
  /** Of the event. */
  readonly status: string | null;
  readonly proof: string | null;
  /** Of the answer. */
  readonly operation: string | null;
}

export interface ContradictedFlow {
  readonly flowId: string;
  readonly contradicted: ContradictedJson;
}

export interface ContradictionList {
  /** The latest first. */
  readonly flows: readonly ContradictedFlow[];
  readonly next: string | null;
}

/** An order that one person gave, and another one has to confirm. */
export interface ProposedOrder {
  readonly id: string;
  readonly action: string;
  readonly eventId?: string;
  readonly until?: string;
  readonly by: string;
  readonly note: string;
  readonly at: string;
  readonly expiresAt: string;
  /** Set while it is carried out. */
  readonly confirmedBy: string | null;
  /** The command with which another person confirms it. */
  readonly confirm: string;
  readonly withdraw: string;
}

/** What waits for a second person. */
export interface ProposalList {
  /** The oldest first. One whose flow has moved on since is void: the flow shows none then. */
  readonly proposals: readonly ListedProposal[];
  readonly next: string | null;
}
export type ListedProposal = Pick<ProposedOrder, 'action' | 'by' | 'at' | 'expiresAt'> & { readonly flowId: string };

export interface FlowWithMoney extends FlowView, FlowMoney {}

export interface FlowMoney {
  /** Decimal string; null of kinds that move no money, and of flows that another Temporal client started. */
  readonly amount: string | null;
  readonly currency: string | null;
}

/** A flow in a list: what the server knows without asking a worker. */
export interface ListedFlow extends Pick<
  Flow,
  'kind' | 'reference' | 'flowId' | 'state' | 'startedAt' | keyof FlowMoney
> {
  readonly closedAt: string | null;
  /** Of a parked flow: why. */
  readonly reason: ParkReason | null;
  /** Of a parked flow: since when. Null if its worker did not answer in time, and of every other state. */
  readonly since: string | null;
  /** The order that waits for a second person; null if none does. */
  readonly proposed: { readonly action: string; readonly by: string; readonly expiresAt: string } | null;
  /** What came after it says otherwise: its state is not where the money is. */
  readonly contradicted: boolean;
}

export interface FlowPage {
  /** Newest first. */
  readonly flows: readonly ListedFlow[];
  /** For `after`: where the next page begins; null at the end. */
  readonly next: string | null;
}

/** The service's answer to one request of a flow: its `data`, or its refusal; or only that it was erased. */
export type ServiceAnswer =
  | { readonly operation: string; readonly data: unknown }
  | { readonly operation: string; readonly rejected: Rejection }
  | { readonly operation: string; readonly erased: 'answer' | 'refusal' };

export interface ServiceAnswers {
  readonly flowId: string;
  /** Oldest first. */
  readonly answers: readonly ServiceAnswer[];
}

/** A flow that an admin gave to another name. */
export interface GivenFlow {
  readonly flowId: string;
  readonly owner: string;
  /** Null: it had no owner. */
  readonly before: string | null;
}

/** How the payment of a flow ended, as an admin says who closes its claims. */
export const CLOSED_AS = ['not-executed', 'completed', 'failed', 'refunded'] as const;
export type ClosedAs = (typeof CLOSED_AS)[number];

/** The claims of a flow that Temporal does not run any more, as they are since an admin closed them. */
export interface ClosedClaims {
  readonly flowId: string;
  readonly claims: readonly { readonly operation: string; readonly reference: string; readonly phase: string }[];
}

/** How much of a flow was erased from the store. */
export interface ErasedFlow {
  readonly flowId: string;
  /** Events whose body or detail was erased. */
  readonly events: number;
  /** Claims whose answer, refusal or reason was erased. */
  readonly claims: number;
  /** Entries of the audit log whose details were erased. */
  readonly entries: number;
}

/** An event as the gateway shows it; the body only to whom it may be shown. */
export type ShownEvent = Omit<InboxRow, 'contentHash' | 'body'> & {
  /** Only for a single event; so is `proposal`, the order to vouch for it that waits for a second person. */
  readonly body?: unknown;
  readonly proposal?: ProposedOrder | null;
};

export type EventState = InboxState;

export interface EventPage {
  /** Newest first. */
  readonly events: readonly ShownEvent[];
  /** For `after`: where the next page begins; null at the end. */
  readonly next: string | null;
}

export interface Replay {
  readonly dryRun: boolean;
  /** Its effect, as a sentence. */
  readonly would: string;
  readonly flowState: FlowState | null;
}

/** The bearer of a token. */
export interface WhoAmI {
  readonly name: string;
  readonly role: string;
  readonly may: readonly Permission[];
}

/** What signs the callbacks about the flows of a name. */
export interface CallbackSecretsJson {
  readonly name: string;
  /** `whsec_…`; the first signs. */
  readonly secrets: readonly string[];
}

/** A card in the memory of one gateway, for a minute. */
export interface CardToken {
  readonly cardToken: string;
  readonly masked: string;
  readonly expiresAt: string;
}

/** The state of one flow's callbacks. Only the origin of the URL is shown: its path may hold a capability. */
export interface CallbacksJson {
  readonly kind: FlowKind;
  readonly reference: string;
  readonly flowId: string;
  /** `none`: there was never a callback to send. `unknown`: no worker answers. */
  readonly state: CallbackState | 'none' | 'unknown';
  readonly to: string | null;
  /** The callback that is being sent, or could not be delivered. */
  readonly current: CallbackJson | null;
  readonly since: string | null;
  readonly attempts: number;
  readonly lastFailure: Omit<CallbackFailure, 'attempt'> | null;
  readonly nextAttemptAt: string | null;
  readonly delivered: (CallbackJson & DeliveredJson) | null;
}

/** One callback: a change of the flow. */
export interface CallbackJson {
  readonly id: string;
  readonly timestamp: string;
  readonly flowState: FlowState;
  readonly stage: string;
  readonly skipped: number;
}

export interface DeliveredJson {
  readonly at: string;
  readonly httpStatus: number;
  readonly attempts: number;
}

export interface CallbackListJson {
  readonly callbacks: readonly ListedCallbacksJson[];
  /** From the 200 newest deliveries in progress. */
  readonly openCircuits: readonly (OpenCircuit & { readonly flows: number })[];
}

/** A flow whose callbacks are listed. */
export interface ListedCallbacksJson {
  readonly kind: FlowKind | null;
  readonly reference: string;
  readonly flowId: string;
  readonly startedAt: string;
}
