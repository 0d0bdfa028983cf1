import { createHash } from 'node:crypto';
import type { Clock } from '../clock.js';
import type { Database } from '../database.js';
import { Refusal } from '../refusal.js';
import type { LiveSettings } from '../settings.js';

/** One committed entry in the service's books: this operation was executed once more for this reference. */
export interface Execution {
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
  /** Jobs to be run after the commit and before the answer: callbacks that come early. */
  readonly early?: readonly number[];
}

export interface Executions {
  /** What the setting says about a reference that was executed before; undefined where it is to be executed (again). */
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
