import { CRYPTO_SEND, cryptoSendRecord } from '../crypto-send/crypto-send.js';
import type { Admit } from '../transactions/admit.js';
import type { Words } from '../transactions/words.js';
import type { Handler } from './handler.js';

export function createSendCrypto(deps: { admit: Admit; wordFor: Words }): Handler<'sendCrypto'> {
  const { admit, wordFor } = deps;
  return ({ body }) =>
    admit(CRYPTO_SEND, {
      body,
      reference: body.referenceId,
      answer: (send) => ({ message: 'Crypto send created', data: cryptoSendRecord(send, wordFor(CRYPTO_SEND, send)) }),
    });
}
