import { customerKey } from '../deposit/payment.js';
import { ONRAMP, onChainLeg, onrampOf } from '../onramp.js';
import type { Admit } from '../transactions/admit.js';
import type { ReferenceNumbers, Transactions } from '../transactions/transactions.js';
import type { FiatLegs } from '../deposit/fiat-legs.js';
import { unknownReference } from '../refusal.js';
import { CARD_DEPOSIT, type KeptCardDeposit, BANK_CHECKOUT } from '../deposit/methods.js';
import type { Handler } from './handler.js';

/** "Which payment method must be given: not shown": either, both and neither are accepted. */
export function createCreateOnramp(deps: {
  admit: Admit;
  numberOf: ReferenceNumbers;
  checkoutUrl: (id: string) => string;
}): Handler<'createOnramp'> {
  const { admit, numberOf, checkoutUrl } = deps;
  return ({ body }) =>
    admit(ONRAMP, {
      body,
      reference: body.referenceId,
      answer: (onramp) => ({
        message: 'Onramp created',
        data: {
          id: onramp.id,
          referenceId: onramp.reference,
          message: body.mobileMoney ? 'A prompt was sent to the phone' : 'Send the customer to redirectUrl',
          customerKey: customerKey(body.mobileMoney?.phoneNumber ?? body.bankCheckout?.phoneNumber ?? 'unknown'),
          redirectUrl: body.mobileMoney ? undefined : checkoutUrl(onramp.id),
          referenceNumber: numberOf(onramp),
        },
      }),
    });
}

/** "Object with mobile_money … and onchain": the two legs of an onramp, however its customer pays. */
export function createGetOnChainDeposit(deps: {
  transactions: Transactions;
  fiatLegs: FiatLegs;
}): Handler<'getOnChainDeposit'> {
  const { transactions, fiatLegs } = deps;
  return ({ param }) => {
    const onramp = onrampOf(transactions, param);
    if (onramp === undefined) return unknownReference('On-chain deposit', param);
    return {
      message: 'On-chain deposit found',
      data: { mobile_money: fiatLegs.ofOnramp(onramp), onchain: onChainLeg(onramp) },
    };
  };
}

/** Its input no longer contains a card: see `redactCard`. */
export function createCreateCardDeposit(deps: {
  admit: Admit;
  numberOf: ReferenceNumbers;
  checkoutUrl: (id: string) => string;
}): Handler<'createCardDeposit'> {
  const { admit, numberOf, checkoutUrl } = deps;
  return (call) => {
    const body = call.body as KeptCardDeposit;
    return admit(CARD_DEPOSIT, {
      body,
      reference: body.referenceId,
      answer: (transaction) => ({
        message: 'Card deposit created: send the customer to redirect_url',
        data: {
          id: transaction.id,
          message: '3-D Secure is required',
          reference_id: transaction.reference,
          reference_number: numberOf(transaction),
          customer_key: customerKey(body.phoneNumber),
          redirect_url: checkoutUrl(transaction.id),
        },
      }),
    });
  };
}

/** The result "echoes the request members". */
export function createCreateBankCheckout(deps: { admit: Admit }): Handler<'createBankCheckout'> {
  return ({ body }) =>
    deps.admit(BANK_CHECKOUT, {
      body,
      reference: body.referenceId,
      answer: ({ reference }) => ({ message: 'Bank checkout created', data: { ...body, referenceId: reference } }),
    });
}

export function createGetMobileMoneyDeposit(deps: { fiatLegs: FiatLegs }): Handler<'getMobileMoneyDeposit'> {
  return ({ param }) => {
    const record = deps.fiatLegs.mobileMoneyOf(param);
    if (record === undefined) return unknownReference('Mobile money deposit', param);
    return { message: 'Mobile money deposit found', data: record };
  };
}
