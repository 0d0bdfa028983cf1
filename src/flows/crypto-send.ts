import type { z } from 'zod';
import { CryptoSendRequest, type CryptoSend } from '../contract/onramp.js';
import { toWireNumber } from '../money.js';
import { PAYMENT_WORDS } from '../protocol/statuses.js';
import { readAmount } from '../readers/amount.js';
import { plainAddress, readAddress } from '../readers/hash.js';
import { callbackEvent, commonFacts } from './callback.js';
import { fitsCurrency, callerReference, commonInput, decimalAmount } from './input.js';
import { asItIs, saysStatus } from './service-interface.js';
import { defineFlow } from './flow.js';
import { assetFacts, factsIn, recordFact, statusIn } from './record-facts.js';
import { terms } from './terms.js';

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
  referenceMember: 'referenceId',
  decidedBy: ({ callbackUrl: _url, timeScale: _scale, ...decided }) => decided,
  summaryOf: (input) => `Crypto send: ${input.cryptoAmount} ${input.token} on ${input.chain}`,
  moneyOf: ({ cryptoAmount, token }) => ({ amount: cryptoAmount, currency: token, member: 'cryptoAmount' }),
  termsOf: ({ cryptoAmount, token, chain, receiverAddress }) =>
    terms({ sends: { amount: cryptoAmount, currency: token }, recipient: receiverAddress, network: chain }),
  submissions: {
    send: {
      operation: 'sendCrypto',
      decidedBy: ({ receiverAddress, chain, token, cryptoAmount }) => ({ receiverAddress, chain, token, cryptoAmount }),
      request: ({ receiverAddress, chain, token, cryptoAmount, referenceId }) => ({
        receiverAddress,
        chain,
        token,
        cryptoAmount: toWireNumber(cryptoAmount),
        referenceId,
      }),
      factsOf: ({ cryptoAmount, receiverAddress, chain, token }) => ({
        cryptoAmount,
        receiverAddress: plainAddress(receiverAddress),
        chain,
        token,
      }),
    },
  },
  status: {
    operation: 'getCryptoSend',
    read: (record) => ({ status: statusIn((record as CryptoSend).status), facts: cryptoSendFacts(record) }),
  },
  carriesOut: { sendCrypto: asItIs },
  reads: {
    getCryptoSend: {
      words: PAYMENT_WORDS,
      recordOf: 'sendCrypto',
      said: saysStatus('referenceId', { completed: 'SUCCESS', refunded: 'REVERSED' }),
    },
  },
  readEvent: (body) => callbackEvent(body, undefined, (fields) => ({ ...commonFacts(fields), ...assetFacts(fields) })),
  demo: {
    name: 'send',
    title: 'no event reports it, so it is looked up',
    expected: 'completed',
    executes: { sendCrypto: 1 },
    ending: 'no-callbacks-ever',
    isLookedUp: true,
  },
  docs: {
    story: 'send → confirmed on the chain',
    learns: '`getCryptoSend`, from 2 s on',
    guaranteed: 'ends correctly without any webhook',
    atDeadline: ['no_settlement'],
  },
});

/** The facts that identify a looked-up send. */
export function cryptoSendFacts(record: unknown): Readonly<Record<string, string>> {
  return {
    ...assetFacts(record),
    ...factsIn({
      cryptoAmount: recordFact(record, 'cryptoAmount', readAmount),
      receiverAddress: recordFact(record, 'cryptoWallet', readAddress),
    }),
  };
}
