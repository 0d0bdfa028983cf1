import type { OnrampRequest } from '../../contract/onramp.js';
import { fiatStatusOf, fiatLegOf, onrampOf } from '../onramp.js';
import type { LiveSettings } from '../settings.js';
import { wordOf } from '../transactions/lifecycle.js';
import type { ReferenceNumbers, Transaction, Transactions } from '../transactions/transactions.js';
import { type FiatLeg, MOBILE_MONEY, type MobileMoneyRequest, mobileMoneyRecord } from './methods.js';
import { PAYMENT_LIFECYCLE } from './payment.js';

type MobileMoneyRecord = ReturnType<typeof mobileMoneyRecord>;

/** Mobile money records, of deposits and of the fiat legs of onramps. */
export interface FiatLegs {
  mobileMoneyOf(reference: string): MobileMoneyRecord | undefined;
  ofOnramp(onramp: Transaction<OnrampRequest>): MobileMoneyRecord;
}

export function createFiatLegs(deps: {
  transactions: Transactions;
  settings: LiveSettings;
  numberOf: ReferenceNumbers;
}): FiatLegs {
  const { transactions, settings, numberOf } = deps;

  function show(transaction: Transaction, leg: FiatLeg): MobileMoneyRecord {
    const word = wordOf(PAYMENT_LIFECYCLE, leg.status, settings.current().vocabulary);
    return mobileMoneyRecord(transaction, leg, { word, number: numberOf(transaction) });
  }

  const ofOnramp: FiatLegs['ofOnramp'] = (onramp) =>
    show(onramp, { ...fiatLegOf(onramp), status: fiatStatusOf(onramp.status) });

  return {
    ofOnramp,
    mobileMoneyOf(reference) {
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
    },
  };
}
