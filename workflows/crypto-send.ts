import { PAYMENT_WORDS } from '../src/protocol/statuses.js';
import { CRYPTO_SEND_FIRST_LOOK_MS } from './engine/policies.js';
import type { Plan } from './engine/plan.js';

/** A crypto send: send a token to an address → confirmed on chain. `getCryptoSend` reports its end. */
export const cryptoSendPlan: Plan = {
  kind: 'crypto-send',
  noun: 'the crypto send',
  words: PAYMENT_WORDS,
  firstLookMs: CRYPTO_SEND_FIRST_LOOK_MS,
  graceMs: 0,
  requests: [{ name: 'send', operation: 'sendCrypto', lookUp: 'own' }],
};
