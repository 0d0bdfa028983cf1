import type { CryptoSendRequest } from '../../contract/onramp.js';
import { CRYPTO_SEND, cryptoSendRecord } from '../crypto-send/crypto-send.js';
import { unknownReference } from '../refusal.js';
import type { Transaction } from '../transactions/transaction.js';
import type { Transactions } from '../transactions/transactions.js';
import type { Words } from '../transactions/words.js';
import type { Handler } from './handler.js';

export function createGetCryptoSend(deps: { transactions: Transactions; wordFor: Words }): Handler<'getCryptoSend'> {
  const { transactions, wordFor } = deps;
  return ({ param }) => {
    const found = transactions.ofReference(param, CRYPTO_SEND.operation) as readonly Transaction<CryptoSendRequest>[];
    const [send] = found;
    if (send === undefined) return unknownReference('Crypto send', param);
    return { message: 'Crypto send found', data: cryptoSendRecord(send, wordFor(CRYPTO_SEND, send)) };
  };
}
