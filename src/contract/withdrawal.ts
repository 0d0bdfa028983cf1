import { z } from 'zod';
import { defineOperation } from './operation.js';
import { numberAsText, record, text } from './reading.js';
import { bankCode, moneyNumber, reference, urlToSend } from './sending.js';
import { FIAT_CURRENCIES } from './vocabulary.js';

/** Only South African banks are supported at present; how the service wants `country` spelled is not shown. */
export const BankDetails = z.strictObject({
  name: z.string().optional(),
  address: z.string().optional(),
  phoneNumber: z.string().optional(),
  bankCode: bankCode(),
  accountNumber: z.string().min(1),
  country: z.string().optional(),
});

export const BankWithdrawalRequest = z.strictObject({
  bankDetails: BankDetails,
  currency: z.enum(FIAT_CURRENCIES),
  amount: moneyNumber(),
  referenceId: reference(),
  callbackUrl: urlToSend().optional(),
});
export type BankWithdrawalRequest = z.infer<typeof BankWithdrawalRequest>;

export const BankWithdrawal = record(
  { id: text(), message: text(), referenceId: text(), referenceNumber: numberAsText() },
  ['referenceId'],
);
export type BankWithdrawal = z.infer<typeof BankWithdrawal>;

/** No status operation in the interface: a lost answer is settled by a trusted event or a person. */
export const createBankWithdrawal = defineOperation({
  name: 'createBankWithdrawal',
  method: 'POST',
  path: '/api/v3/withdraw/v2/bank',
  auth: 'bearer',
  effect: 'money',
  reference: 'referenceId',
  body: BankWithdrawalRequest,
  example: {
    referenceId: 'withdrawal-1002',
    bankDetails: { name: 'Thandi Example', bankCode: '0250', accountNumber: '62012345678', country: 'ZA' },
    currency: 'ZAR',
    amount: 250.5,
  },
  data: BankWithdrawal,
  summary: 'Pays out to a bank account; currently only South African banks are supported.',
  section: 'Withdrawal',
});
