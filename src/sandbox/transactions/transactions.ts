import type { Clock } from '../clock.js';
import type { Database } from '../database.js';
import type { LiveSettings } from '../settings.js';

export interface Transactions {
  /** Inside `database.write`. */
  add(transaction: Omit<Transaction, 'number' | 'createdAt' | 'updatedAt'>): Transaction;
  /** Inside `database.write`. */
  setStatus(id: string, status: string): void;
  get(id: string): Transaction | undefined;
  /** Newest first; more than one only if a repeated reference was executed again. */
  ofReference(reference: string, operation?: string): readonly Transaction[];
  /** By operation and status. */
  count(): Record<string, Record<string, number>>;
}

interface Row {
  readonly id: string;
  readonly number: number;
  readonly operation: string;
  readonly reference: string;
  readonly status: string;
  readonly ending: string;
  readonly body: string;
  readonly figures: string;
  readonly execution_id: number;
  readonly created_at: number;
  readonly updated_at: number;
}

export function createTransactions(deps: { database: Database; clock: Clock }): Transactions {
  const { database, clock } = deps;

  const read = (row: Row): Transaction => ({
    id: row.id,
    number: NUMBERS_FROM + row.number,
    operation: row.operation,
    reference: row.reference,
    status: row.status,
    ending: row.ending,
    body: JSON.parse(row.body) as unknown,
    figures: JSON.parse(row.figures) as Transaction['figures'],
    executionId: row.execution_id,
    createdAt: clock.iso(row.created_at),
    updatedAt: clock.iso(row.updated_at),
  });

  const get: Transactions['get'] = (id) => {
    const row = database.get<Row>('SELECT * FROM transactions WHERE id = ?', id);
    return row && read(row);
  };

  return {
    get,
    add({ id, operation, reference, status, ending, body, figures, executionId }) {
      database.run(
        `INSERT INTO transactions (id, operation, reference, status, ending, body, figures, execution_id, created_at,
           updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        id,
        operation,
        reference,
        status,
        ending,
        JSON.stringify(body),
        JSON.stringify(figures),
        executionId,
        clock.now(),
        clock.now(),
      );
      return get(id) as Transaction;
    },
    setStatus(id, status) {
      database.run('UPDATE transactions SET status = ?, updated_at = ? WHERE id = ?', status, clock.now(), id);
    },
    ofReference: (reference, operation) =>
      database
        .all<Row>(
          'SELECT * FROM transactions WHERE reference = ?1 AND (?2 IS NULL OR operation = ?2) ORDER BY number DESC',
          reference,
          operation ?? null,
        )
        .map((row) => read(row)),
    count() {
      const rows = database.all<{ operation: string; status: string; n: number }>(
        'SELECT operation, status, COUNT(*) AS n FROM transactions GROUP BY operation, status',
      );
      const counts: Record<string, Record<string, number>> = {};
      for (const { operation, status, n } of rows) (counts[operation] ??= {})[status] = n;
      return counts;
    },
  };
}

/** One request that moves money, from its acceptance on. All kinds of them live in one table. */
export interface Transaction<B = unknown> {
  readonly id: string;
  /** A count, for the members `reference_number` and `referenceNumber`. */
  readonly number: number;
  /** The operation that made it. */
  readonly operation: string;
  readonly reference: string;
  /** By its lifecycle's table; the wire may have another word for it. */
  readonly status: string;
  readonly ending: string;
  readonly body: B;
  /** Computed when it was accepted, as decimal strings. */
  readonly figures: Readonly<Record<string, string>>;
  readonly executionId: number;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** The first transaction has the number after it. */
const NUMBERS_FROM = 250_101_000;

/** As the live service also writes it: `"MP250101001"`. */
export const liveNumber = (number: number) => `MP${number}`;

/** The reference number of an answer: a number by the interface. */
export type ReferenceNumbers = (transaction: Transaction) => number | string;

export const createReferenceNumbers =
  (deps: { settings: LiveSettings }): ReferenceNumbers =>
  ({ number }) =>
    deps.settings.current().vocabulary === 'live' ? liveNumber(number) : number;
