import type { FiatLegs } from '../deposit/fiat-legs.js';
import { unknownReference } from '../refusal.js';
import type { Handler } from './handler.js';

export function createGetMobileMoneyDeposit(deps: { fiatLegs: FiatLegs }): Handler<'getMobileMoneyDeposit'> {
  return ({ param }) => {
    const record = deps.fiatLegs.mobileMoneyOf(param);
    if (record === undefined) return unknownReference('Mobile money deposit', param);
    return { message: 'Mobile money deposit found', data: record };
  };
}
