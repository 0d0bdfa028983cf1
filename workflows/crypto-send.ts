import { cryptoSendPlan } from './core/crypto-send.js';
import { coreFlow } from './core/flow.js';

/** A crypto send: send a token to an address → confirmed on chain. `getCryptoSend` reports its end. */
export const cryptoSend = coreFlow(cryptoSendPlan);
