import type { FlowView, Parked } from './messages.js';
import type { FlowState } from './vocabulary.js';

/** What a caller receives of a flow: no personal data, no evidence, no free text of a person. */
export interface FlowChange {
  /** When it became so. Of two changes of a flow no two are the same: the later one is newer. */
  readonly timestamp: string;
  readonly kind: FlowView['kind'];
  readonly reference: string;
  readonly flowId: string;
  readonly state: FlowState;
  readonly stage: string;
  readonly serviceReference: string | null;
  readonly outcome: { readonly state: FlowState; readonly reason: string | null } | null;
  readonly parked: Pick<Parked, 'reason' | 'since' | 'actions'> | null;
}

/** A change that was not sent by itself, since a newer one came before it could be. */
export type SkippedChange = Pick<FlowChange, 'timestamp' | 'state' | 'stage'>;

/** One callback. Its id stays the same however often it is sent. */
export interface Notification {
  readonly id: string;
  readonly change: FlowChange;
  /** Oldest first; the oldest of many are left out. */
  readonly skipped: readonly SkippedChange[];
}

/** Argument of `callbackDelivery`. */
export interface CallbackOrder {
  readonly flowId: string;
  /** May carry a capability of the caller's: it is in encrypted payloads, and nowhere else. */
  readonly url: string;
  readonly timeScale: number;
  readonly changes: readonly FlowChange[];
  /** To be sent again, by a person's order. */
  readonly again?: Notification;
}

/** Why a callback did not get through. */
export interface CallbackFailure {
  /** A sentence without the URL. */
  readonly problem: string;
  readonly httpStatus: number | null;
  readonly attempt: number;
  readonly at: string;
  /** Null if the circuit of its origin was closed, as far as the worker knew that tried. */
  readonly circuit: OpenCircuit | null;
}

/** Nothing answers there: it is tried by one callback at a time. */
export interface OpenCircuit {
  readonly origin: string;
  readonly since: string;
}

/** `delivered`: nothing is left to send. `sending`: also between two attempts. */
export type CallbackState = 'delivered' | 'sending' | 'undelivered';

export interface Delivered {
  readonly notification: Notification;
  readonly at: string;
  readonly httpStatus: number;
  readonly attempts: number;
}

/** The answer to the query `callbacks`. For our own processes: `order` carries the URL. */
export interface CallbackReport {
  readonly state: CallbackState;
  /** What is being sent, or could not be delivered. */
  readonly current: Notification | null;
  /** Since when it is tried, or has been given up. */
  readonly since: string | null;
  /** The last attempt, where it was given up. */
  readonly failure: CallbackFailure | null;
  readonly delivered: Delivered | null;
  /** With which the delivery can be started again. */
  readonly order: CallbackOrder;
}

/** A callback that was not delivered is tried again after so long, each time after twice as long, up to the most. */
export const CALLBACK_PAUSE_MS = 5_000;
export const CALLBACK_PAUSE_MOST_MS = 3_600_000;
