import { Big } from 'big.js';
import type { Clock } from '../clock.js';
import type { Database } from '../database.js';

/** Why money moved. */
export type EntryKind =
  | 'deposit'
  | 'crypto-payment'
  | 'crypto-received'
  | 'settlement'
  | 'release'
  | 'refund'
  | 'withdrawal'
  | 'payout'
  | 'crypto-send'
  | 'reversal';

export interface Posting {
  readonly account: string;
  readonly currency: string;
  /** Decimal string; above zero is money that comes into the account. */
  readonly amount: string;
}

export interface Entry {
  readonly kind: EntryKind;
  readonly reference: string;
  /** The execution that moved it first; null for what the settlement provider does. */
  readonly executionId: number | null;
  readonly postings: readonly Posting[];
}

/** The accounts of the books. Held: collected from a customer, and owed until it is settled or returned. */
export const accounts = {
  customer: (key: string) => `customer:${key}`,
  wallet: (id: string) => `wallet:${id}`,
  held: 'service:held',
  settled: 'service:settled',
  treasury: 'service:treasury',
  losses: 'service:losses',
  fees: 'fees',
  cryptoOut: 'crypto-out',
  provider: 'provider',
  recipient: (reference: string) => `recipient:${reference}`,
} as const;

export interface Ledger {
  /** Inside `database.write`. Throws where an entry is not balanced in each of its currencies. */
  post(entry: Entry): void;
  entries(reference?: string): readonly (Entry & { readonly id: number; readonly at: string })[];
  /** Balance by account and currency, as decimal strings. */
  balances(): Record<string, Record<string, string>>;
}

/** What comes out of one account goes into another. */
export function transfer(from: string, to: string, currency: string, amount: string): Posting[] {
  if (new Big(amount).eq(0)) return [];
  return [
    { account: from, currency, amount: new Big(amount).neg().toFixed() },
    { account: to, currency, amount: new Big(amount).toFixed() },
  ];
}

export function createLedger(deps: { database: Database; clock: Clock }): Ledger {
  const { database, clock } = deps;
  return {
    post(entry) {
      for (const [currency, sum] of sums(entry.postings)) {
        if (!sum.eq(0)) throw new Error(`${entry.kind} of ${entry.reference} is off by ${sum.toFixed()} ${currency}`);
      }
      database.run(
        'INSERT INTO entries (at, kind, reference, execution_id, postings) VALUES (?, ?, ?, ?, ?)',
        clock.now(),
        entry.kind,
        entry.reference,
        entry.executionId,
        JSON.stringify(entry.postings),
      );
    },
    entries(reference) {
      const rows = database.all<EntryRow>(
        'SELECT * FROM entries WHERE ?1 IS NULL OR reference = ?1 ORDER BY id',
        reference ?? null,
      );
      return rows.map((row) => ({
        id: row.id,
        at: clock.iso(row.at),
        kind: row.kind,
        reference: row.reference,
        executionId: row.execution_id,
        postings: JSON.parse(row.postings) as Posting[],
      }));
    },
    balances() {
      const postings = database
        .all<Pick<EntryRow, 'postings'>>('SELECT postings FROM entries')
        .flatMap((row) => JSON.parse(row.postings) as Posting[]);
      const byAccount = new Map<string, Posting[]>();
      for (const posting of postings) {
        const known = byAccount.get(posting.account);
        if (known === undefined) byAccount.set(posting.account, [posting]);
        else known.push(posting);
      }
      const shown = (of: readonly Posting[]) =>
        Object.fromEntries([...sums(of)].map(([currency, sum]) => [currency, sum.toFixed()]));
      return Object.fromEntries([...byAccount].map(([account, of]) => [account, shown(of)]));
    },
  };
}

interface EntryRow {
  readonly id: number;
  readonly at: number;
  readonly kind: EntryKind;
  readonly reference: string;
  readonly execution_id: number | null;
  readonly postings: string;
}

/** Sum by currency, exact. */
function sums(postings: readonly Posting[]): Map<string, Big> {
  const result = new Map<string, Big>();
  for (const { currency, amount } of postings) {
    result.set(currency, (result.get(currency) ?? new Big(0)).plus(amount));
  }
  return result;
}
