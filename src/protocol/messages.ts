import type { CauseCode } from './causes.js';
import { readAmount } from '../readers/amount.js';

/** An inbox row on its way into a flow: no personal data, only what the flow compares and decides by. */
export interface FlowEvent {
  /** Id of the inbox row; a flow takes each id once. */
  readonly id: string;
  readonly source: 'callback' | 'settlement' | 'webhook';
  readonly trusted: boolean;
  /** How it was proven: `signature`, `capability`, `network`, `corroborated`, `person`; null while unproven. */
  readonly proof: string | null;
  /** The raw status word; null if the event has none. */
  readonly status: string | null;
  readonly receivedAt: string;
  /** Members that the flow can compare with what it knows; decimal strings for amounts. */
  readonly facts: Readonly<Record<string, string>>;
}

/** The outcome of an event, as the flow reports it to the inbox. */
export type EventResult = 'applied' | 'duplicate' | 'unverified' | 'conflicting';

/** A gateway adds this to an order, and no other Temporal client can: it proves who ordered it. */
export interface OrderProof {
  readonly id: string;
  /** Who confirmed it, if two are needed. */
  readonly second: string | null;
  /** Under the store's key, over all of it. */
  readonly mac: string;
}

/** Argument of the update `resolve`. */
export interface ResolveOrder {
  readonly action: string;
  readonly note: string;
  /** Who ordered it: unproven, unless there is a proof. */
  readonly actor: string;
  readonly proof?: OrderProof;
  /** Since when the flow was parked that the person saw: a flow that has moved on refuses the order. */
  readonly since?: string;
  /**
   * The event of a `trust-settlement`, `accept-event` or `dismiss-event`; default: the one that the flow parked for, if
   * there is only one.
   */
  readonly eventId?: string;
  /** The new deadline of a `keep-waiting`, ISO 8601 in UTC; default: one more default deadline. */
  readonly until?: string;
}

/** Argument of the updates `cancel` and `approveQuote`. */
export interface PersonOrder {
  readonly actor: string;
  readonly proof?: OrderProof;
  readonly note?: string;
}

/** Argument of the update `provideRefundInvoice`. */
export interface RefundInvoiceOrder {
  readonly actor: string;
  readonly proof?: OrderProof;
  /** A Lightning invoice (BOLT 11) of the recipient of the refund. */
  readonly invoice: string;
}

/** Argument of the update `pay`: who pays an invoice, and how much, if that is not the invoice's amount. */
export interface PayOrder {
  readonly actor: string;
  readonly proof?: OrderProof;
  readonly mobileMoney: unknown;
  readonly amount?: unknown;
  readonly currency?: unknown;
}

/** A fact that is there and cannot be read: it may differ from what we know, so it counts as different. */
export const UNREADABLE = 'unreadable';

/** Facts that are amounts: plain decimals, or `UNREADABLE`. */
const AMOUNT_FACTS: readonly string[] = [
  'amount',
  'settlementAmount',
  'cryptoAmount',
  'amountMsat',
  'fiatAmount',
  'paidAmount',
  'refundCryptoAmount',
  'refundAmountMsat',
];

/** A looked-up amount of a bridge deposit may be that of either side: the currency that it names says of which. */
export const amountIn = (currency: string): string => `amount in ${currency}`;

/** Facts from any sender of a signal, as the gateway makes them: what is no text, or an amount that is none, differs. */
export function factsAsRead(facts: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  const read = (name: string, fact: unknown): string | undefined => {
    if (AMOUNT_FACTS.includes(name)) return readAmount(fact);
    return typeof fact === 'string' ? fact : undefined;
  };
  return Object.fromEntries(Object.entries(facts).map(([name, fact]) => [name, read(name, fact) ?? UNREADABLE]));
}

/** Whether the facts are those of an event of which a part that may decide, or all, cannot be read. */
export const isUnread = (facts: Readonly<Record<string, string>>): boolean => facts['body'] === UNREADABLE;

/** The service's answer to the flow's main POST, for the caller who waits for it. */
export type SubmitAnswer =
  | { readonly kind: 'accepted'; readonly answer: unknown }
  | { readonly kind: 'rejected'; readonly httpStatus: number; readonly message: string; readonly code: string | null }
  /** The flow ended or parked before the service's answer was known. */
  | { readonly kind: 'none'; readonly reason: string };

/** The code of an order to pay an invoice that is or was paid in another way. */
export const PAID_BY_ANOTHER_WAY = 'paid_by_another_way' satisfies CauseCode;

/** The service's refusal, kept small: never a body, a header or a token. */
export interface Rejection {
  readonly httpStatus: number;
  readonly message: string;
  readonly code?: string;
}
