import { z } from 'zod';
import { defineOperation } from './operation.js';
import { amount, flag, opaque, opaqueOrText, record, text, timestamp } from './reading.js';
import { bankCode, decimalNumber, moneyNumber, reference, urlToSend } from './sending.js';
import { CHAINS, OFFRAMP_CURRENCIES, TOKENS } from './vocabulary.js';

export const OfframpMobileMoneyReceiver = z.strictObject({
  phoneNumber: z.string().min(1),
  accountName: z.string().optional(),
  networkProvider: z.string().min(1).optional(),
});

export const OfframpBankReceiver = z.strictObject({
  name: z.string().optional(),
  address: z.string().optional(),
  phoneNumber: z.string().optional(),
  bankCode: bankCode().optional(),
  accountNumber: z.string().min(1),
  country: z.string().optional(),
});

/** Which of the two receivers must be given is not shown: a request may carry either, both or neither. */
export const OfframpRequest = z.strictObject({
  cryptoAmount: moneyNumber(),
  currency: z.enum(OFFRAMP_CURRENCIES),
  chain: z.enum(CHAINS),
  token: z.enum(TOKENS),
  referenceId: reference(),
  mobileMoneyReceiver: OfframpMobileMoneyReceiver.optional(),
  bankReceiver: OfframpBankReceiver.optional(),
  /** When omitted, the integrator's crypto wallet is used. */
  senderAddress: z.string().min(1).optional(),
  callbackUrl: urlToSend().optional(),
  rateId: z.string().min(1).optional(),
  refundInitiated: z.boolean().optional(),
  refundStatus: z.string().optional(),
  refundTransactionHash: z.string().optional(),
  refundAmount: decimalNumber().optional(),
});
export type OfframpRequest = z.infer<typeof OfframpRequest>;

/** Status words are not shown. FAILED is not the end: an automatic refund may follow. */
export const Offramp = record(
  {
    referenceId: text(),
    fiatAmount: amount(),
    fiatTransactionAmount: amount(),
    cryptoAmount: amount(),
    transactionHashAmount: amount(),
    fiatCurrency: text(),
    customerKey: text(),
    fiatWalletId: text(),
    senderAddress: text(),
    transactionHash: text(),
    escrowAddress: text(),
    status: text(),
    onchainStatus: text(),
    rate: opaque(),
    usingIntegratedWallet: flag(),
    created_at: timestamp(),
    updated_at: timestamp(),
    onchainError: opaqueOrText(),
    transactionError: opaqueOrText(),
  },
  ['referenceId', 'status'],
);
export type Offramp = z.infer<typeof Offramp>;

export const createOfframp = defineOperation({
  name: 'createOfframp',
  method: 'POST',
  path: '/api/v3/offramp',
  auth: 'bearer',
  effect: 'money',
  reference: 'referenceId',
  statusLookup: 'getOfframp',
  body: OfframpRequest,
  example: {
    referenceId: 'offramp-1002',
    cryptoAmount: 12.5,
    currency: 'KES',
    chain: 'CELO',
    token: 'USDC',
    mobileMoneyReceiver: {
      accountName: 'Amina Example',
      phoneNumber: '+254712345678',
      networkProvider: 'MPESA',
    },
  },
  data: Offramp,
  echoes: {
    cryptoAmount: { member: 'cryptoAmount', as: 'amount' },
    currency: { member: 'fiatCurrency', as: 'currency' },
    senderAddress: { member: 'senderAddress', as: 'address' },
  },
  summary: "Creates an offramp request converting a customer's crypto to fiat.",
  section: 'Offramp',
});

export const getOfframp = defineOperation({
  name: 'getOfframp',
  method: 'GET',
  path: '/api/v3/offramp/{referenceId}',
  param: 'referenceId',
  auth: 'bearer',
  effect: 'read',
  data: Offramp,
  summary: 'Reads the status of an offramp by reference id.',
  section: 'Offramp',
});
