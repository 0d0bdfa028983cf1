import { PAYMENT_WORDS } from '../src/protocol/statuses.js';
import { paymentFlow } from './engine/payment-flow.js';
import { CRYPTO_SEND_FIRST_LOOK_MS } from './engine/policies.js';

/** A crypto send: send a token to an address → confirmed on chain. `getCryptoSend` reports its end. */
export const cryptoSend = paymentFlow('crypto-send', {
  step: 'send',
  noun: 'the crypto send',
  words: PAYMENT_WORDS,
  hasLookup: true,
  firstLookMs: CRYPTO_SEND_FIRST_LOOK_MS,
});
