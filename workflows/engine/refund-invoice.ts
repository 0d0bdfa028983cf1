import type { HandOver } from '../../activities/types.js';

/** The invoice of a refund over Lightning. */
export interface RefundInvoice {
  readonly given: GivenInvoice | null;
  /** Payment hashes of earlier invoices that were not handed over. */
  readonly earlier: readonly string[];
  /** The service has it: a person has handed it over, or the flow has. */
  readonly isHandedOver: boolean;
  /** A person has said that it is waited for until the deadline. */
  readonly isAwaited: boolean;
  /** What came of it when the flow handed the given one over; undefined: it has not tried. */
  readonly handOver?: HandOver;
}

/** One that was checked. */
export interface GivenInvoice {
  readonly invoice: string;
  readonly amountMsat: string;
  readonly paymentHash: string;
  /** Public key of the node that it pays. */
  readonly payee: string;
  readonly expiresAt: string;
  readonly expiresAtMs: number;
}
