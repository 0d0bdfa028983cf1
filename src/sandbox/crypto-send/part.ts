import type { Core, Part } from '../core.js';
import { createGetCryptoSend } from '../operations/get-crypto-send.js';
import { createSendCrypto } from '../operations/send-crypto.js';
import { createCryptoSends, SEND_JOB } from './crypto-send.js';
import { createSends, type Send } from './sends.js';

/** Crypto sends, put together. */
export function createCryptoSendPart(core: Core & { readonly onArrived: (send: Send) => void }): Part {
  const sends = createSends(core);
  const cryptoSends = createCryptoSends({ ...core, sends });
  return {
    jobs: { [SEND_JOB]: cryptoSends.job },
    handlers: {
      sendCrypto: createSendCrypto({ ...core, cryptoSends }),
      getCryptoSend: createGetCryptoSend({ sends, cryptoSends }),
    },
  };
}
