import type { FlowKind, FlowState, ParkAction, ParkReason } from './vocabulary.js';

/** A change of a flow as a caller receives it: no personal data, no evidence, no free text of a person. */
export interface FlowChange {
  /** Time of the change. No two changes of a flow have the same: the later one is newer. */
  readonly timestamp: string;
  readonly kind: FlowKind;
  readonly reference: string;
  readonly flowId: string;
  readonly state: FlowState;
  readonly stage: string;
  readonly serviceReference: string | null;
  readonly outcome: { readonly state: FlowState; readonly reason: string | null } | null;
  readonly parked: {
    readonly reason: ParkReason;
    readonly since: string;
    readonly actions: readonly ParkAction[];
  } | null;
  /** A proven event that came after the end says otherwise: look at the flow, and at your own books. */
  readonly contradicted?: true;
}

/** A change that was not sent by itself, since a newer one came first. */
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
  /** May carry a capability of the caller's: it is kept only in encrypted payloads. */
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

/** Nothing answers there: one callback at a time tries it. */
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
  /** The callback that is being sent, or could not be delivered. */
  readonly current: Notification | null;
  /** Since when it is tried, or was given up. */
  readonly since: string | null;
  /** The last attempt, if it was given up. */
  readonly failure: CallbackFailure | null;
  readonly delivered: Delivered | null;
  /** With which the delivery can be started again. */
  readonly order: CallbackOrder;
}

/** An undelivered callback is tried again after this time, which doubles each time, up to the maximum. */
export const CALLBACK_PAUSE_MS = 5_000;
export const CALLBACK_PAUSE_MOST_MS = 3_600_000;
