import type { ServiceRecord } from './witnesses.js';

/** Of each kind: the operation whose execution is the money movement; null where nothing moves. */
export const MONEY: Readonly<Record<string, string | null>> = {
  'bridge-transfer': 'createBridgeDeposit',
  'invoice-payment': 'payInvoice',
  onramp: 'createOnramp',
  'crypto-send': 'sendCrypto',
  offramp: 'createOfframp',
  'bank-checkout': 'createBankCheckout',
  'card-deposit': 'createCardDeposit',
  'bank-withdrawal': 'createBankWithdrawal',
  'kyc-check': null,
  'mobile-money-watch': null,
};

/** Where money is ordered in the service's own interface: there by us, and at the gateway by those who integrate the service. */
export const OPERATION_OF_PATH: Readonly<Record<string, { readonly operation: string; readonly kind: string }>> = {
  '/api/v3/deposit/crypto-bridge': { operation: 'createBridgeDeposit', kind: 'bridge-transfer' },
  '/api/v3/cross-boarder/invoice': { operation: 'createInvoice', kind: 'invoice-payment' },
  '/api/v3/cross-boarder/invoice/pay': { operation: 'payInvoice', kind: 'invoice-payment' },
  '/api/v3/onramp': { operation: 'createOnramp', kind: 'onramp' },
  '/api/v3/onramp/crypto': { operation: 'sendCrypto', kind: 'crypto-send' },
  '/api/v3/offramp': { operation: 'createOfframp', kind: 'offramp' },
  '/api/v3/deposit/bank/checkout': { operation: 'createBankCheckout', kind: 'bank-checkout' },
  '/api/v3/deposit/card': { operation: 'createCardDeposit', kind: 'card-deposit' },
  '/api/v3/withdraw/v2/bank': { operation: 'createBankWithdrawal', kind: 'bank-withdrawal' },
};

/** Of each operation: the kind of the flow that executes it. */
export const KIND_OF: Readonly<Record<string, string>> = Object.fromEntries(
  Object.values(OPERATION_OF_PATH).map(({ operation, kind }) => [operation, kind]),
);

/** Of a bridge transfer, whose refund is a send of our own. */
export const REFUND_SUFFIX = '.refund';

/** What the sandbox's control begins, as somebody else would. */
export const ELSEWHERE: readonly string[] = ['mobileMoneyDeposit'];

/** Of kinds that only watch: whose record tells how it has ended. */
const WATCHED: Readonly<Record<string, string>> = {
  'kyc-check': 'getKycStatus',
  'mobile-money-watch': 'mobileMoneyDeposit',
};

/** Whose record tells how a flow of the kind has ended. */
export const recordOperation = (kind: string): string => MONEY[kind] ?? WATCHED[kind] ?? kind;

/** `none`: the service has no record. `owed`: it failed, and the service keeps money of somebody. */
export type Standing = 'none' | 'pending' | 'settled' | 'failed' | 'refunded' | 'owed';

const WORDS: Readonly<Record<string, Standing>> = {
  SUCCESSFUL: 'settled',
  SUCCESS: 'settled',
  COMPLETED: 'settled',
  APPROVED: 'settled',
  FAILED: 'failed',
  CANCELLED: 'failed',
  DECLINED: 'failed',
  EXPIRED: 'failed',
  REJECTED: 'failed',
  NOT_RECEIVED: 'failed',
  FIAT_FAILED: 'failed',
  FIAT_CANCELLED: 'failed',
  FIAT_DECLINED: 'failed',
  FIAT_EXPIRED: 'failed',
  CRYPTO_FAILED: 'refunded',
  REVERSED: 'refunded',
  REFUNDED: 'refunded',
  REFUND_PENDING: 'owed',
  REFUND_FAILED: 'owed',
};

/** FAILED is no end where something was collected before: something is still held then. */
export function standingOf(record: ServiceRecord | undefined, isHeld: boolean): Standing {
  if (record === undefined) return 'none';
  const standing = WORDS[record.status] ?? 'pending';
  return standing === 'failed' && isHeld ? 'owed' : standing;
}
