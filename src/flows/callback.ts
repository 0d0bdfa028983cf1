import { z } from 'zod';
import type { FlowView, Parked } from '../protocol/messages.js';
import type { FlowState } from '../protocol/vocabulary.js';
import type { EventReading } from './flow.js';

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

/*
 * Callbacks and account webhooks whose shape the interface does not show: the bare fields, or the envelope
 * `{event, data}`. Either spelling of the reference; amounts as numbers or strings. Unknown members are left in the inbox.
 */

const decimal = z
  .union([z.string(), z.number().transform(String)])
  .pipe(z.string().regex(/^\d{1,30}(\.\d{1,30})?$/))
  .optional()
  .catch(undefined);
const word = z
  .string()
  .regex(/^[\w .:-]{1,64}$/)
  .optional()
  .catch(undefined);
const identifier = z
  .union([z.string(), z.number().transform(String)])
  .pipe(z.string().regex(/^[\w.:-]{1,128}$/))
  .optional()
  .catch(undefined);

const Fields = z.looseObject({
  referenceId: identifier,
  reference_id: identifier,
  provider_reference_id: identifier,
  status: word,
  amount: decimal,
  fiatAmount: decimal,
  cryptoAmount: decimal,
  crypto_amount: decimal,
  currency: word,
  fiatCurrency: word,
});
const Envelope = z.looseObject({ event: z.string(), data: z.looseObject({}) });

export type CallbackFields = z.infer<typeof Fields>;

/**
 * Reads an event; `statusOf` where a kind says its status in other members, `factsOf` where only some members are sure
 * to mean what the flow knows.
 */
export function callbackEvent(
  body: unknown,
  statusOf: (fields: CallbackFields, event: string | null) => string | null = (fields) => fields.status ?? null,
  factsOf: (fields: CallbackFields, event: string | null) => EventReading['facts'] = commonFacts,
): EventReading | undefined {
  const envelope = Envelope.safeParse(body);
  const parsed = Fields.safeParse(envelope.success ? envelope.data.data : body);
  if (!parsed.success) return undefined;
  const fields = parsed.data;
  const event = envelope.success ? envelope.data.event : null;
  return {
    reference: fields.referenceId ?? fields.reference_id ?? fields.provider_reference_id ?? null,
    status: statusOf(fields, event),
    facts: factsOf(fields, event),
  };
}

function commonFacts(fields: CallbackFields): EventReading['facts'] {
  const facts: Record<string, string> = {};
  const add = (name: string, value: string | undefined) => {
    if (value !== undefined) facts[name] = value;
  };
  add('amount', fields.amount);
  add('fiatAmount', fields.fiatAmount);
  add('cryptoAmount', fields.cryptoAmount ?? fields.crypto_amount);
  add('currency', fields.currency ?? fields.fiatCurrency);
  return facts;
}
