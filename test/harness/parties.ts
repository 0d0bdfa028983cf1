import type { Card } from '../../src/contract/deposit.js';
/* Payers and recipients of the tests: personal data contains "Canary", so that a search finds where it got to. */

/** Nothing of it may be found anywhere; long enough to be found by nothing else. */
export const CANARY_CARD: Card = {
  number: '378282246310005',
  holder: 'Zyxwina Canaryholder',
  expiryMonth: '11',
  expiryYear: '2047',
  cvv: '7391',
  paymentBrand: 'AMEX',
};

/** In mixed case: services return it in theirs. */
export const EVM_ADDRESS = '0xAbCdEf0123456789abcdef0123456789ABCDEF01';
export const KENYAN_PHONE = '+254712345678';
export const MOBILE_MONEY = { accountName: 'Canary Payer', phoneNumber: KENYAN_PHONE, providerNetwork: 'MPESA' };
/** A payer by card or at a bank's page, and the amount. */
export const SOUTH_AFRICAN_PAYER = {
  fullName: 'Canary Payer',
  phoneNumber: '+27821234567',
  currency: 'ZAR',
  amount: '250.50',
};
