import { Big } from 'big.js';
import type { BridgeStatus } from '../../contract/vocabulary.js';
import { accounts, type EntryKind, type Posting, transfer } from '../ledger/ledger.js';

/** Where the fiat of a deposit is. */
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

/** What a deposit that is accepted moves: the service collects, and holds. */
export const collect = (position: BridgePosition): readonly Posting[] =>
  transfer(accounts.customer(position.customer), accounts.held, position.currency, position.amount);

/** What money does on entering a status; undefined where it stays. Pure, and safe against any order of statuses. */
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
