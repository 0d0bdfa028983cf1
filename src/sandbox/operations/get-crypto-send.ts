import type { CryptoSends } from '../crypto-send/crypto-send.js';
import type { Sends } from '../crypto-send/sends.js';
import { unknownReference } from '../refusal.js';
import type { Handler } from './handler.js';

export function createGetCryptoSend(deps: { sends: Sends; cryptoSends: CryptoSends }): Handler<'getCryptoSend'> {
  return ({ param }) => {
    const [send] = deps.sends.ofReference(param);
    if (send === undefined) return unknownReference('Crypto send', param);
    return { message: 'Crypto send found', data: deps.cryptoSends.record(send) };
  };
}
