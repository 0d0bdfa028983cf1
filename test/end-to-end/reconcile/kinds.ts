import type { ServiceRecord } from './witnesses.js';

/** Of each kind: the operation whose execution is the money movement, and others that it may have executed. */
export const KINDS: Readonly<Record<string, { readonly money: string | null; readonly also: readonly string[] }>> = {
  'bridge-transfer': { money: 'createBridgeDeposit', also: [] },
  'invoice-payment': { money: 'payInvoice', also: ['createInvoice'] },
  onramp: { money: 'createOnramp', also: [] },
  'crypto-send': { money: 'sendCrypto', also: [] },
  offramp: { money: 'createOfframp', also: [] },
  'bank-checkout': { money: 'createBankCheckout', also: [] },
  'card-deposit': { money: 'createCardDeposit', also: [] },
  'bank-withdrawal': { money: 'createBankWithdrawal', also: [] },
  // Moves nothing; the sandbox begins a record's story at the first look, and counts that.
  'kyc-check': { money: null, also: ['getKycStatus'] },
};

/** Whose record tells how a flow of the kind has ended. */
export const recordOperation = (kind: string): string => KINDS[kind]?.money ?? 'getKycStatus';

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
