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
