import { z } from 'zod';
import { defineOperation } from './operation.js';
import { amount, numberAsText, opaqueOrText, record, text } from './reading.js';
import { moneyNumber, reference, urlToSend } from './sending.js';
import { CHAINS, FIAT_CURRENCIES, TOKENS } from './vocabulary.js';

/** Networks are plain text: the interface shows four, and more are seen on the wire. */
export const OnrampMobileMoney = z.strictObject({
  phoneNumber: z.string().min(1),
  accountName: z.string().optional(),
  providerNetwork: z.string().min(1).optional(),
});

export const OnrampBankCheckout = z.strictObject({
  fullName: z.string().min(1),
  phoneNumber: z.string().min(1),
  paymentMethod: z.string().min(1),
});

/** Which payment method must be given is not shown: a request may carry either, both or neither. */
export const OnrampRequest = z.strictObject({
  fiatAmount: moneyNumber(),
  currency: z.enum(FIAT_CURRENCIES),
  chain: z.enum(CHAINS),
  token: z.enum(TOKENS),
  receiverAddress: z.string().min(1),
  referenceId: reference(),
  callbackUrl: urlToSend(),
  mobileMoney: OnrampMobileMoney.optional(),
  bankCheckout: OnrampBankCheckout.optional(),
  rateId: z.string().min(1).optional(),
  /** When omitted, the service chooses a wallet by currency. */
  fiatWalletId: z.string().min(1).optional(),
});
export type OnrampRequest = z.infer<typeof OnrampRequest>;

export const OnrampCreation = record(
  {
    id: text(),
    referenceId: text(),
    message: text(),
    customerKey: text(),
    redirectUrl: text(),
    referenceNumber: numberAsText(),
  },
  ['referenceId'],
);
export type OnrampCreation = z.infer<typeof OnrampCreation>;

export const CryptoSendRequest = z.strictObject({
  receiverAddress: z.string().min(1),
  chain: z.enum(CHAINS),
  token: z.enum(TOKENS),
  cryptoAmount: moneyNumber(),
  referenceId: reference(),
});
export type CryptoSendRequest = z.infer<typeof CryptoSendRequest>;

/**
 * The interface calls it "Onramp-crypto record". It does not show its status words, nor the members of chain and token.
 */
export const CryptoSend = record(
  {
    referenceId: text(),
    status: text(),
    feeType: text(),
    cryptoWallet: text(),
    transactionHash: text(),
    cryptoAmount: amount(),
    cryptoAmountReceived: amount(),
    feeInCrypto: amount(),
    chain: opaqueOrText(),
    token: opaqueOrText(),
  },
  ['referenceId', 'status'],
);
export type CryptoSend = z.infer<typeof CryptoSend>;

/** Has no status operation of its own: its outcome is reported by the two legs of its deposit. */
export const createOnramp = defineOperation({
  name: 'createOnramp',
  method: 'POST',
  path: '/api/v3/onramp',
  auth: 'bearer',
  effect: 'money',
  reference: 'referenceId',
  statusLookup: 'getOnChainDeposit',
  body: OnrampRequest,
  example: {
    referenceId: 'onramp-1002',
    fiatAmount: 1000.5,
    currency: 'KES',
    chain: 'CELO',
    token: 'USDC',
    receiverAddress: '0x1111111111111111111111111111111111111111',
    callbackUrl: 'https://shop.example/callbacks/onramp-1002',
    mobileMoney: { accountName: 'Amina Example', phoneNumber: '+254712345678', providerNetwork: 'MPESA' },
  },
  data: OnrampCreation,
  paymentRequest: { receiverAddress: 'invoice' },
  summary: 'Creates an onramp request, paid by mobile money or bank checkout, converting fiat to crypto.',
  section: 'Onramp',
});

export const sendCrypto = defineOperation({
  name: 'sendCrypto',
  method: 'POST',
  path: '/api/v3/onramp/crypto',
  auth: 'bearer',
  effect: 'money',
  reference: 'referenceId',
  statusLookup: 'getCryptoSend',
  body: CryptoSendRequest,
  example: {
    referenceId: 'send-1002',
    receiverAddress: '0x1111111111111111111111111111111111111111',
    chain: 'CELO',
    token: 'USDC',
    cryptoAmount: 12.5,
  },
  data: CryptoSend,
  echoes: {
    receiverAddress: { member: 'cryptoWallet', as: 'address' },
    chain: { member: 'chain', as: 'asset' },
    token: { member: 'token', as: 'asset' },
    cryptoAmount: { member: 'cryptoAmount', as: 'amount' },
  },
  paymentRequest: { receiverAddress: 'invoice' },
  summary: 'Sends a token to any crypto wallet address.',
  section: 'Onramp',
});

export const getCryptoSend = defineOperation({
  name: 'getCryptoSend',
  method: 'GET',
  path: '/api/v3/onramp/crypto/{referenceId}',
  param: 'referenceId',
  auth: 'bearer',
  effect: 'read',
  data: CryptoSend,
  summary: 'Reads the status of a crypto send.',
  section: 'Onramp',
});
