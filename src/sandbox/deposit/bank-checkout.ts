import type { BankCheckoutRequest } from '../../contract/deposit.js';
import type { Kind } from '../transactions/kind.js';
import { paymentKind } from './payment.js';

/** The customer pays at a bank's checkout page. */
export const BANK_CHECKOUT: Kind<BankCheckoutRequest> = {
  ...paymentKind,
  operation: 'createBankCheckout',
  title: 'Bank checkout',
  idPrefix: 'CHK',
};
