import type { OnrampRequest } from '../../contract/onramp.js';
import type { HandlerParts, Handlers } from '../handler.js';
import { fiatLegOf, fiatStatusOf, onChainLeg, onrampOf } from '../onramp.js';
import { unknownReference } from '../refusal.js';
import { wordOf } from '../transactions/lifecycle.js';
import type { Transaction } from '../transactions/transactions.js';
import { type FiatLeg, MOBILE_MONEY, type MobileMoneyRequest, mobileMoneyRecord } from './methods.js';
import { PAYMENT_LIFECYCLE } from './payment.js';

type MobileMoneyRecord = ReturnType<typeof mobileMoneyRecord>;

/** Mobile money records, of deposits and of the fiat legs of onramps. */
export function fiatLegHandlers({
  transactions,
  settings,
  numberOf,
}: HandlerParts): Pick<Handlers, 'getMobileMoneyDeposit' | 'getOnChainDeposit'> {
  function show(transaction: Transaction, leg: FiatLeg): MobileMoneyRecord {
    const word = wordOf(PAYMENT_LIFECYCLE, leg.status, settings.current().vocabulary);
    return mobileMoneyRecord(transaction, leg, { word, number: numberOf(transaction) });
  }

  const ofOnramp = (onramp: Transaction<OnrampRequest>): MobileMoneyRecord =>
    show(onramp, { ...fiatLegOf(onramp), status: fiatStatusOf(onramp.status) });

  function mobileMoneyOf(reference: string): MobileMoneyRecord | undefined {
    const [deposit] = transactions.ofReference(
      reference,
      MOBILE_MONEY.operation,
    ) as readonly Transaction<MobileMoneyRequest>[];
    if (deposit !== undefined) {
      const { phoneNumber, networkProvider: network = 'MPESA', amount, currency, callbackUrl } = deposit.body;
      const fee = deposit.figures['fee'] ?? '0';
      return show(deposit, { phoneNumber, network, amount, currency, fee, callbackUrl, status: deposit.status });
    }
    const onramp = onrampOf(transactions, reference);
    // A bank checkout is no mobile money; `getOnChainDeposit` shows its fiat leg all the same.
    if (onramp === undefined || (onramp.body.mobileMoney === undefined && onramp.body.bankCheckout !== undefined)) {
      return undefined;
    }
    return ofOnramp(onramp);
  }

  return {
    getMobileMoneyDeposit({ param }) {
      const record = mobileMoneyOf(param);
      if (record === undefined) return unknownReference('Mobile money deposit', param);
      return { message: 'Mobile money deposit found', data: record };
    },
    // "Object with mobile_money … and onchain": the two legs of an onramp, however its customer pays.
    getOnChainDeposit({ param }) {
      const onramp = onrampOf(transactions, param);
      if (onramp === undefined) return unknownReference('On-chain deposit', param);
      const data = { mobile_money: ofOnramp(onramp), onchain: onChainLeg(onramp) };
      return { message: 'On-chain deposit found', data };
    },
  };
}
