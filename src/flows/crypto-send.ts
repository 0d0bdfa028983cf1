import type { z } from 'zod';
import { CryptoSendRequest, type CryptoSend } from '../contract/onramp.js';
import { toWireNumber } from '../money.js';
import { addressFact } from '../protocol/messages.js';
import { PAYMENT_WORDS } from '../protocol/statuses.js';
import { callbackEvent } from './callback.js';
import { fitsCurrency, callerReference, commonInput, decimalAmount } from './input.js';
import { defineFlow } from './flow.js';

/** Input of a `crypto-send`: the body of the operation, the amount as a decimal string or number. */
export const CryptoSendInput = CryptoSendRequest.extend({
  referenceId: callerReference(),
  cryptoAmount: decimalAmount(),
  ...commonInput,
}).superRefine(fitsCurrency('cryptoAmount', 'token'));
export type CryptoSendInput = z.infer<typeof CryptoSendInput>;

export const cryptoSendFlow = defineFlow({
  kind: 'crypto-send',
  input: CryptoSendInput,
  referenceOf: (input) => input.referenceId,
  decidedBy: ({ callbackUrl: _url, timeScale: _scale, ...decided }) => decided,
  summaryOf: (input) => `Crypto send: ${input.cryptoAmount} ${input.token} on ${input.chain}`,
  moneyOf: ({ cryptoAmount, token }) => ({ amount: cryptoAmount, currency: token }),
  submissions: {
    send: {
      operation: 'sendCrypto',
      referenceOf: (input) => input.referenceId,
      decidedBy: ({ receiverAddress, chain, token, cryptoAmount }) => ({ receiverAddress, chain, token, cryptoAmount }),
      request: ({ receiverAddress, chain, token, cryptoAmount, referenceId }) => ({
        receiverAddress,
        chain,
        token,
        cryptoAmount: toWireNumber(cryptoAmount),
        referenceId,
      }),
      shownBy: Object.keys(PAYMENT_WORDS),
      factsOf: ({ cryptoAmount, receiverAddress }) => ({ cryptoAmount, receiverAddress: addressFact(receiverAddress) }),
    },
  },
  status: {
    operation: 'getCryptoSend',
    referenceOf: (input) => input.referenceId,
    read: (record) => ({ status: (record as CryptoSend).status ?? null, facts: cryptoSendFacts(record) }),
  },
  readEvent: (body) => callbackEvent(body),
});

/** What a looked-up send can be identified by. */
export function cryptoSendFacts(record: unknown): Readonly<Record<string, string>> {
  const { cryptoAmount, cryptoWallet } = record as CryptoSend;
  return {
    ...(cryptoAmount ? { cryptoAmount } : {}),
    ...(cryptoWallet ? { receiverAddress: addressFact(cryptoWallet) } : {}),
  };
}
