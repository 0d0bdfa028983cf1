import type { Facts, Quote } from '../../activities/types.js';

/** What a bridge transfer knows besides, as plain JSON. */
export interface TransferKnown {
  /** The quote that the caller agreed to, with which new ones are compared; null until the input is checked. */
  readonly agreed: Quote | null;
  readonly quote: TimedQuote | null;
  /** Why the service gave no quote. */
  readonly whyNone: string | null;
  /** The quote was used up, or came too late: another one is needed. */
  readonly isUsed: boolean;
  /** Quotes since the last order to send. */
  readonly quotes: number;
  /** Sends that no worker took while their quote was young, one by one. */
  readonly untaken: { readonly times: number; readonly atMs: number } | null;
  readonly approvedBy: string | null;
  /** Statuses that were reported to the service. */
  readonly reported: readonly string[];
  /** What became of the last report, until it is reported. */
  readonly report: Report | null;
  /** A refund that a person ordered, or that is being sent. */
  readonly refund: RefundOrdered | null;
  /**
   * A person was asked for a refund, or may have been by an earlier run: what they have seen, and do outside of the flow, no
   * rule can know, so that none is sent by the input alone from then on.
   */
  readonly wasAsked: boolean;
  /** What the lookup of the deposit has shown, each once. @default nothing */
  readonly looked?: readonly LookedUp[];
  /** The turn in which that lookup has shown its record last. @default none */
  readonly lookedTurn?: number;
  /** Ids of the events that were judged when an event held a refund back; null: none did. */
  readonly heldBack: readonly string[] | null;
  /** A person has ordered to wait for the confirmation of a refund: since then, and until then; ms. */
  readonly waitsSinceMs: number;
  readonly waitsUntilMs: number;
}

/** A quote with the workflow time at which its life begins. */
export interface TimedQuote extends Quote {
  readonly quotedAtMs: number;
}

/** A looked-up record: it says as much as a trusted event. */
export interface LookedUp {
  readonly status: string;
  readonly facts: Facts;
  readonly atMs: number;
}

export interface RefundOrdered {
  readonly by: 'input' | 'person';
  /** How much, as a decimal string, and whether the service's own was begun by then; null: it is not being sent yet. */
  readonly cryptoAmount: string | null;
  readonly hadTheirsBegun: boolean | null;
}

export interface Report {
  readonly eventId: string;
  readonly status: string;
  readonly kind: 'refused' | 'not-taken';
  readonly httpStatus: number | null;
  readonly message: string;
}

export const NEW_TRANSFER: TransferKnown = {
  agreed: null,
  quote: null,
  whyNone: null,
  isUsed: false,
  quotes: 0,
  untaken: null,
  approvedBy: null,
  reported: [],
  report: null,
  refund: null,
  wasAsked: false,
  heldBack: null,
  waitsSinceMs: 0,
  waitsUntilMs: 0,
};
