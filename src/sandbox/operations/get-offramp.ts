import type { OfframpRequest } from '../../contract/offramp.js';
import { OFFRAMP, offrampRecord } from '../offramp/offramp.js';
import { unknownReference } from '../refusal.js';
import type { Transaction } from '../transactions/transaction.js';
import type { Transactions } from '../transactions/transactions.js';
import type { Words } from '../transactions/words.js';
import type { Handler } from './handler.js';

export function createGetOfframp(deps: { transactions: Transactions; wordFor: Words }): Handler<'getOfframp'> {
  const { transactions, wordFor } = deps;
  return ({ param }) => {
    const [offramp] = transactions.ofReference(param, OFFRAMP.operation) as readonly Transaction<OfframpRequest>[];
    if (offramp === undefined) return unknownReference('Offramp', param);
    return { message: 'Offramp found', data: offrampRecord(offramp, wordFor(OFFRAMP, offramp)) };
  };
}
