import type { FiatLegs } from '../deposit/fiat-legs.js';
import { onChainLeg, ONRAMP } from '../onramp/onramp.js';
import { unknownReference } from '../refusal.js';
import type { Transactions } from '../transactions/transactions.js';
import type { Transaction } from '../transactions/transaction.js';
import type { OnrampRequest } from '../../contract/onramp.js';
import type { Handler } from './handler.js';

/** "Object with mobile_money … and onchain": the two legs of an onramp, however its customer pays. */
export function createGetOnChainDeposit(deps: {
  transactions: Transactions;
  fiatLegs: FiatLegs;
}): Handler<'getOnChainDeposit'> {
  const { transactions, fiatLegs } = deps;
  return ({ param }) => {
    const [onramp] = transactions.ofReference(param, ONRAMP.operation) as readonly Transaction<OnrampRequest>[];
    if (onramp === undefined) return unknownReference('On-chain deposit', param);
    return {
      message: 'On-chain deposit found',
      data: { mobile_money: fiatLegs.ofOnramp(onramp), onchain: onChainLeg(onramp) },
    };
  };
}
