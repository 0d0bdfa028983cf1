import { ON_CHAIN_DEPOSIT_EVENT } from '../contract/events.js';
import { callbackEvent, type CallbackFields } from './callback-event.js';
import type { EventReading } from './flow.js';
import { onrampWord } from './onramp-legs.js';

/** Events of the fiat leg: their status is half of the way. */
const FIAT_EVENTS: readonly string[] = ['payment.confirmed', 'transaction.deposit.status.updated'];

export const ONRAMP_EVENTS = ['transaction.onramp.status.updated', ON_CHAIN_DEPOSIT_EVENT, ...FIAT_EVENTS];

/** Events of an onramp: a word for both legs, and what can be compared. The lookup has the last word in any case. */
export function onrampEvent(body: unknown): EventReading | undefined {
  return callbackEvent(body, wordOf, factsOf);
}

function wordOf(fields: CallbackFields, event: string | null): string | null {
  const fiat = legIn(fields, 'mobile_money_status');
  const received = legIn(fields, 'crypto_received_status');
  if (fiat !== null || received !== null) return onrampWord({ fiat, crypto: null, received });
  const status = fields.status ?? null;
  return status !== null && FIAT_EVENTS.includes(event ?? '') ? `FIAT_${status}` : status;
}

/** `amount` is the fiat's in the one event whose shape is shown; in the others it may be anything. */
function factsOf(fields: CallbackFields, event: string | null): EventReading['facts'] {
  const fiatAmount = fields.fiatAmount ?? (event === ON_CHAIN_DEPOSIT_EVENT ? fields.amount : undefined);
  if (fiatAmount === undefined) return {};
  return { fiatAmount, ...(fields.currency === undefined ? {} : { currency: fields.currency }) };
}

function legIn(fields: CallbackFields, member: string): string | null {
  const value = fields[member];
  return typeof value === 'string' && /^\w{1,64}$/.test(value) ? value : null;
}
