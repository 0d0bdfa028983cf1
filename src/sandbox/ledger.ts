import { createHash } from 'node:crypto';
import { Big } from 'big.js';
import type { Clock } from './clock.js';
import type { Database } from './database.js';
import { Refusal } from './refusal.js';
import type { LiveSettings } from './settings.js';

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

interface Entry {
  readonly kind: EntryKind;
  readonly reference: string;
  /** The execution that moved it first; null for movements of the settlement provider. */
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
  /** Inside `database.write`. Throws if an entry is not balanced in each of its currencies. */
  post(entry: Entry): void;
  entries(reference?: string): readonly (Entry & { readonly id: number; readonly at: string })[];
  /** Balance by account and currency, as decimal strings. */
  balances(): Record<string, Record<string, string>>;
}

/** Moves an amount from one account to another. */
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

/** One committed entry in the service's books: this operation was executed once more for this reference. */
interface Execution {
  readonly id: number;
  readonly operation: string;
  readonly reference: string;
  readonly amount: string;
  readonly currency: string;
  readonly at: string;
  /** SHA-256 of the body, to see whether two executions had the same one. */
  readonly digest: string;
}

export interface Answer {
  readonly message: string;
  readonly data: object;
  /** Jobs to run after the commit and before the answer: callbacks that come early. */
  readonly early?: readonly number[];
}

export interface Executions {
  /** The answer that the setting gives to an executed reference; undefined if it is to be executed (again). */
  answerToRepeat(operation: string, reference: string): Answer | Refusal | undefined;
  /** Inside `database.write`. */
  record(execution: Omit<Execution, 'id' | 'at' | 'digest'> & { readonly body: unknown }): number;
  /** Keeps the answer for repeats; inside `database.write`. */
  answered(id: number, answer: Answer): Answer;
  /** How many there are in all; grows by one for each `record`. */
  count(): number;
  list(filter: { operation?: string | undefined; reference?: string | undefined }): readonly Execution[];
}

type Row = Omit<Execution, 'at'> & { readonly at: number; readonly answer: string | null };

export function createExecutions(deps: { database: Database; clock: Clock; settings: LiveSettings }): Executions {
  const { database, clock, settings } = deps;
  let recorded = 0;
  return {
    answerToRepeat(operation, reference) {
      const mode = settings.current().repeatMode;
      if (mode === 'execute-again') return undefined;
      const first = database.get<Row>(
        'SELECT * FROM executions WHERE reference = ? AND operation = ? ORDER BY id LIMIT 1',
        reference,
        operation,
      );
      if (first === undefined) return undefined;
      if (mode === 'same-result') return JSON.parse(first.answer ?? '{}') as Answer;
      return new Refusal(mode === 'conflict' ? 409 : 400, 'DUPLICATE_REFERENCE', 'Duplicate reference');
    },
    record({ operation, reference, amount, currency, body }) {
      recorded += 1;
      return database.run(
        'INSERT INTO executions (operation, reference, amount, currency, at, digest) VALUES (?, ?, ?, ?, ?, ?)',
        operation,
        reference,
        amount,
        currency,
        clock.now(),
        createHash('sha256').update(JSON.stringify(body)).digest('hex'),
      ).id;
    },
    answered(id, answer) {
      const { message, data } = answer;
      database.run('UPDATE executions SET answer = ? WHERE id = ?', JSON.stringify({ message, data }), id);
      return answer;
    },
    count: () => recorded,
    list({ operation, reference }) {
      const rows = database.all<Row>(
        `SELECT * FROM executions
         WHERE (?1 IS NULL OR operation = ?1) AND (?2 IS NULL OR reference = ?2) ORDER BY id`,
        operation ?? null,
        reference ?? null,
      );
      return rows.map(({ id, operation, reference, amount, currency, at, digest }) => ({
        id,
        operation,
        reference,
        amount,
        currency,
        at: clock.iso(at),
        digest,
      }));
    },
  };
}
