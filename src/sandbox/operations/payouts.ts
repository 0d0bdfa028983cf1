import type { OfframpRequest } from '../../contract/offramp.js';
import type { CryptoSendRequest } from '../../contract/onramp.js';
import { OFFRAMP, offrampRecord } from '../offramp.js';
import type { Admit } from '../transactions/admit.js';
import { unknownReference, badMembers } from '../refusal.js';
import type { Transaction, Transactions, ReferenceNumbers } from '../transactions/transactions.js';
import { isSouthAfrican, WITHDRAWAL } from '../withdrawal.js';
import { CRYPTO_SEND, cryptoSendRecord } from '../crypto-send.js';
import type { Handler } from './handler.js';
import type { StatusWord } from '../transactions/tools.js';

/** "Which of mobileMoneyReceiver and bankReceiver must be given: not shown": either, both and neither are accepted. */
export function createCreateOfframp(deps: { admit: Admit; wordFor: StatusWord }): Handler<'createOfframp'> {
  const { admit, wordFor } = deps;
  return ({ body }) =>
    admit(OFFRAMP, {
      body,
      reference: body.referenceId,
      answer: (offramp) => ({ message: 'Offramp created', data: offrampRecord(offramp, wordFor(OFFRAMP, offramp)) }),
    });
}

export function createGetOfframp(deps: { transactions: Transactions; wordFor: StatusWord }): Handler<'getOfframp'> {
  const { transactions, wordFor } = deps;
  return ({ param }) => {
    const [offramp] = transactions.ofReference(param, OFFRAMP.operation) as readonly Transaction<OfframpRequest>[];
    if (offramp === undefined) return unknownReference('Offramp', param);
    return { message: 'Offramp found', data: offrampRecord(offramp, wordFor(OFFRAMP, offramp)) };
  };
}

const abroad = () => badMembers([{ path: 'bankDetails.country', message: 'only South African banks are supported' }]);

export function createCreateBankWithdrawal(deps: {
  admit: Admit;
  numberOf: ReferenceNumbers;
}): Handler<'createBankWithdrawal'> {
  const { admit, numberOf } = deps;
  return ({ body }) =>
    admit(WITHDRAWAL, {
      body,
      reference: body.referenceId,
      refusal: () => (isSouthAfrican(body.bankDetails.country) ? undefined : abroad()),
      answer: (withdrawal) => ({
        message: 'Withdrawal created',
        data: {
          id: withdrawal.id,
          message: 'The withdrawal is on its way',
          referenceId: withdrawal.reference,
          referenceNumber: numberOf(withdrawal),
        },
      }),
    });
}

export function createSendCrypto(deps: { admit: Admit; wordFor: StatusWord }): Handler<'sendCrypto'> {
  const { admit, wordFor } = deps;
  return ({ body }) =>
    admit(CRYPTO_SEND, {
      body,
      reference: body.referenceId,
      answer: (send) => ({ message: 'Crypto send created', data: cryptoSendRecord(send, wordFor(CRYPTO_SEND, send)) }),
    });
}

export function createGetCryptoSend(deps: {
  transactions: Transactions;
  wordFor: StatusWord;
}): Handler<'getCryptoSend'> {
  const { transactions, wordFor } = deps;
  return ({ param }) => {
    const found = transactions.ofReference(param, CRYPTO_SEND.operation) as readonly Transaction<CryptoSendRequest>[];
    const [send] = found;
    if (send === undefined) return unknownReference('Crypto send', param);
    return { message: 'Crypto send found', data: cryptoSendRecord(send, wordFor(CRYPTO_SEND, send)) };
  };
}
