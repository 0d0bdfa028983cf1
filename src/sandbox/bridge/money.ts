import { createHash } from 'node:crypto';
import { Big } from 'big.js';
import type { BridgeStatus } from '../../contract/vocabulary.js';
import type { BridgeDepositRequest } from '../../contract/bridge.js';
import { accounts, type EntryKind, type Posting, transfer } from '../ledger.js';
import type { Clock } from '../clock.js';

/** The state of a deposit's fiat. */
export type BridgeMoney = 'held' | 'settled' | 'returned';

export interface BridgePosition {
  readonly customer: string;
  readonly amount: string;
  readonly fee: string;
  readonly currency: string;
  readonly crypto: { readonly amount: string; readonly unit: string };
  readonly paidOut: boolean;
  readonly money: BridgeMoney;
}

export interface BridgeMove {
  readonly kind: EntryKind;
  readonly postings: readonly Posting[];
  readonly paidOut: boolean;
  readonly money: BridgeMoney;
}

/** The postings of an accepted deposit: the service collects, and holds. */
export const collect = (position: BridgePosition): readonly Posting[] =>
  transfer(accounts.customer(position.customer), accounts.held, position.currency, position.amount);

/**
 * The money movement on entering a status; undefined if there is none. Pure, and safe against any order of statuses.
 */
export function moveOn(position: BridgePosition, status: BridgeStatus): BridgeMove | undefined {
  const { paidOut, money, currency, amount, fee, crypto } = position;
  switch (status) {
    case 'PAYMENT_SENT':
      if (paidOut) return undefined;
      return {
        kind: 'crypto-payment',
        postings: transfer(accounts.treasury, accounts.cryptoOut, crypto.unit, crypto.amount),
        paidOut: true,
        money,
      };
    case 'COMPLETED':
      if (money !== 'held') return undefined;
      return {
        kind: 'settlement',
        postings: [
          ...transfer(accounts.held, accounts.settled, currency, new Big(amount).minus(fee).toFixed()),
          ...transfer(accounts.held, accounts.fees, currency, fee),
        ],
        paidOut,
        money: 'settled',
      };
    case 'FAILED':
      return paidOut ? undefined : giveBack(position, 'release');
    case 'REFUNDED':
      return giveBack(position, 'refund');
    case 'DEPOSIT_INITIATED':
    case 'DEPOSIT_CONFIRMED':
    case 'PAYMENT_CONFIRMED':
    case 'SETTLING':
      return undefined;
    default:
      return status satisfies never;
  }
}

/** The customer gets all of it back. After a settlement that is the service's loss, and the books show it. */
export function giveBack(position: BridgePosition, kind: 'release' | 'refund'): BridgeMove | undefined {
  if (position.money === 'returned') return undefined;
  const from = position.money === 'held' ? accounts.held : accounts.losses;
  return {
    kind,
    postings: transfer(from, accounts.customer(position.customer), position.currency, position.amount),
    paidOut: position.paidOut,
    money: 'returned',
  };
}

/** "A refund invoice is valid 15 min"; an on-chain `refund_config` has no invoice and no `expires_at`. */
const REFUND_INVOICE_LIFE_MS = 15 * 60_000;

export interface RefundConfig {
  readonly primary_method: string;
  readonly chain: string;
  readonly token: string;
  readonly refund_invoice?: string;
  readonly refund_payment_hash?: string;
  readonly refund_amount_msat?: number;
  readonly refund_crypto_amount?: number;
  readonly fallback_address: string;
  readonly fallback_method: string;
  readonly expires_at?: string;
}

/** The address to which the crypto of a failed transfer is to go back. Each deposit has an address of its own. */
export function refundConfig(
  request: BridgeDepositRequest,
  depositId: string,
  crypto: { readonly amount: string; readonly unit: string },
  clock: Clock,
): RefundConfig {
  const fallback = {
    fallback_address: `0x${hash(depositId, 'address').slice(0, 40)}`,
    fallback_method: 'crypto_address',
  };
  const { chain, token } = request;
  if (chain !== 'LIGHTNING') {
    return { primary_method: 'crypto_address', chain, token, refund_crypto_amount: Number(crypto.amount), ...fallback };
  }
  const paymentHash = hash(depositId, 'refund');
  return {
    primary_method: 'lightning_invoice',
    chain,
    token,
    // Looks like an invoice but is none: it cannot be paid.
    refund_invoice: `lnbc${Number(crypto.amount)}p1sandbox${paymentHash}`,
    refund_payment_hash: paymentHash,
    ...(crypto.unit === 'MSAT'
      ? { refund_amount_msat: Number(crypto.amount) }
      : { refund_crypto_amount: Number(crypto.amount) }),
    ...fallback,
    expires_at: clock.iso(clock.now() + REFUND_INVOICE_LIFE_MS),
  };
}

const hash = (...parts: readonly string[]) => createHash('sha256').update(parts.join(' ')).digest('hex');
