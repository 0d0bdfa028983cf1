import { addressFact } from './address-fact.js';
import { callbackEvent, type CallbackFields } from './callback-event.js';
import type { EventReading } from './flow.js';
import { CRYPTO_NOT_RECEIVED, meaningOf, PAYMENT_WORDS, REFUND_INVOICE_NEEDED } from './meanings.js';

/** Members of the offramp record and of its events that are read here; either may lack any of them. */
type Members = Readonly<Record<string, unknown>>;

/** FAILED is followed by a refund, unless nothing shows that any crypto ever came: then there is nothing to refund. */
export function offrampStatus(record: unknown): string | null {
  const { status, onchainStatus, transactionHash: hash, transactionHashAmount: came } = record as Members;
  if (typeof status !== 'string') return null;
  const isFailed = typeof onchainStatus === 'string' && meaningOf(PAYMENT_WORDS, onchainStatus) === 'failed';
  const noneCame = !hash && (came === undefined || came === null || Number(came) === 0);
  return status.toUpperCase() === 'FAILED' && isFailed && noneCame ? CRYPTO_NOT_RECEIVED : status;
}

/** What an offramp can be told by. The record does not show who receives the fiat. */
export function offrampFacts(record: unknown): Readonly<Record<string, string>> {
  const { cryptoAmount, fiatCurrency, senderAddress } = record as Members;
  const facts: Record<string, string> = {};
  if (typeof cryptoAmount === 'string') facts['cryptoAmount'] = cryptoAmount;
  if (typeof fiatCurrency === 'string' && fiatCurrency !== '') facts['fiatCurrency'] = fiatCurrency;
  if (typeof senderAddress === 'string' && senderAddress !== '') facts['senderAddress'] = addressFact(senderAddress);
  return facts;
}

/** Events whose name says more than their status; the last two are not in the interface, but on the wire. */
const EVENT_WORDS: Readonly<Record<string, string>> = {
  'refund.lightning.invoice_needed': REFUND_INVOICE_NEEDED,
  'refund.completed': 'REFUNDED',
  'refund.failed': 'REFUND_FAILED',
};

/** Events of the refund of an offramp, which its own name does not tell. */
export const REFUND_EVENTS: readonly string[] = Object.keys(EVENT_WORDS);

/** Events of an offramp: a word, and what can be compared. The lookup has the last word in any case. */
export function offrampEvent(body: unknown): EventReading | undefined {
  return callbackEvent(
    body,
    (fields, event) => EVENT_WORDS[event ?? ''] ?? offrampStatus(fields),
    (fields, event) => (event?.startsWith('refund.') ? refundFacts(fields) : offrampFacts(fields)),
  );
}

/** The amounts of an event about a refund are the refund's: less than what came in, where fees are kept. */
function refundFacts(fields: CallbackFields): EventReading['facts'] {
  const facts: Record<string, string> = {};
  const add = (fact: string, ...told: readonly unknown[]) => {
    const text = String(told.find((value) => typeof value === 'string' || typeof value === 'number') ?? '');
    if (/^\d{1,30}(\.\d{1,30})?$/.test(text)) facts[fact] = text;
  };
  add('refundAmountMsat', fields['refund_amount_msat'], fields['amount_msat']);
  add('refundCryptoAmount', fields['refund_crypto_amount'], fields.crypto_amount, fields.cryptoAmount);
  return facts;
}
