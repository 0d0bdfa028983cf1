import type { BridgeTransferInput } from '../src/flows/bridge-transfer.js';
import type { Pin, Quote, Windows } from './outcomes.js';

/** What the first activity of a bridge transfer returns: the checked input and all that the flow needs from outside. */
export interface BridgePreparation {
  readonly input: BridgeTransferInput;
  readonly fingerprint: string;
  /** Without figures where the caller brought a `rate_id` that never passed through a gateway of ours. */
  readonly quote: Quote;
  readonly windows: Windows;
  readonly pin: Pin;
  /** Whether signals and updates that came unencrypted may be heard. */
  readonly allowPlaintext: boolean;
}

export interface BridgeDepositOrder {
  readonly flowId: string;
  readonly fingerprint: string;
  readonly pin: Pin;
  readonly input: BridgeTransferInput;
  readonly rateId: string;
  /** Workflow time, ms, at which the quote was asked for: its life counts from here. */
  readonly quotedAtMs: number;
  /** How much of the quote's life may be used, ms: its life less the margin. */
  readonly usableMs: number;
}

/** The deposit's answer, as the flow needs it. */
export interface BridgeDepositAnswer {
  readonly serviceReference: string;
  readonly status: string;
  readonly paymentHash: string | null;
  readonly refund: RefundTerms | null;
}

export interface RefundTerms {
  readonly method: string | null;
  readonly fallbackMethod: string | null;
  readonly fallbackAddress: string | null;
  readonly chain: string | null;
  readonly token: string | null;
  /** Decimal string, in `token`. */
  readonly cryptoAmount: string | null;
  /** Milliseconds from the deposit's creation to the end of its refund invoice; null where it gave none. */
  readonly lifeMs: number | null;
}

export interface SettlementReportOrder {
  readonly flowId: string;
  /** Inbox row of the provider's trusted settlement. */
  readonly eventId: string;
  readonly reference: string;
  readonly serviceReference: string | null;
  /** How long to try until it counts as not heard, already scaled, ms. @default for ever */
  readonly patienceMs?: number;
}

/**
 * `refused`: by the service, or (without a status of HTTP) by us, because no report can be made of it. `not-heard`: tried
 * for as long as was said, and the service may yet hear it.
 */
export type ReportOutcome =
  | { readonly kind: 'reported' }
  | { readonly kind: 'refused'; readonly httpStatus: number | null; readonly message: string }
  | { readonly kind: 'not-heard'; readonly message: string };

export interface RefundOrder {
  readonly flowId: string;
  readonly pin: Pin;
  /** `{reference}.refund`. */
  readonly reference: string;
  readonly receiverAddress: string;
  readonly chain: string;
  readonly token: string;
  /** Decimal string. */
  readonly cryptoAmount: string;
}
