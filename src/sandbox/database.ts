import Libsql from 'libsql';
import { SCHEMA } from './schema.js';
import type { Timers } from './timers.js';

type Value = string | number | null;
/** Values are always passed as one array: a single null argument would be taken for an object of named ones. */
type Statement = Libsql.Statement<[readonly Value[]]>;

/** The sandbox's one file. Everything is synchronous on one connection; only the commit is waited for. */
export interface Database {
  /** Rows that were changed, and the id of the row that was inserted. */
  run(sql: string, ...values: Value[]): { changes: number; id: number };
  /** `R` names the columns; libsql adds a `_metadata` member, so rows are never spread or compared. */
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- says what the row is, as `all` does
  get<R>(sql: string, ...values: Value[]): R | undefined;
  all<R>(sql: string, ...values: Value[]): R[];
  /**
   * Runs `work` in a transaction and resolves after its commit. All work of one turn of the event loop shares a commit
   * (an fsync costs more than a request); work that throws is undone alone and rejects alone.
   */
  write<T>(work: () => T): Promise<T>;
  close(): void;
}

interface Pending {
  readonly work: () => unknown;
  readonly resolve: (value: never) => void;
  readonly reject: (reason: unknown) => void;
}

type Outcome = { readonly value: unknown } | { readonly error: unknown };

/** `durable`: a commit is on disk when `write` resolves (`synchronous=FULL`; NORMAL does not sync each commit). */
export function openDatabase(deps: { path: string; durable: boolean; timers: Timers }): Database {
  const { timers } = deps;
  const libsql = new Libsql(deps.path);
  libsql.pragma('journal_mode=WAL');
  libsql.pragma(`synchronous=${deps.durable ? 'FULL' : 'NORMAL'}`);
  libsql.exec(SCHEMA);

  const statements = new Map<string, Statement>();
  const prepared = (sql: string): Statement => {
    let statement = statements.get(sql);
    if (statement === undefined) statements.set(sql, (statement = libsql.prepare<[readonly Value[]]>(sql)));
    return statement;
  };

  function attempt(work: () => unknown): Outcome {
    prepared('SAVEPOINT work').run([]);
    try {
      const outcome = { value: work() };
      prepared('RELEASE work').run([]);
      return outcome;
    } catch (error) {
      prepared('ROLLBACK TO work').run([]);
      prepared('RELEASE work').run([]);
      return { error };
    }
  }

  let pending: Pending[] = [];
  let closed = false;

  function commitPending(): void {
    const batch = pending;
    pending = [];
    if (batch.length === 0) return;
    let outcomes: Outcome[];
    try {
      if (closed) throw new Error('the sandbox is closed');
      prepared('BEGIN IMMEDIATE').run([]);
      outcomes = batch.map(({ work }) => attempt(work));
      prepared('COMMIT').run([]);
    } catch (error) {
      if (!closed && libsql.inTransaction) prepared('ROLLBACK').run([]);
      outcomes = batch.map(() => ({ error }));
    }
    for (const [index, { resolve, reject }] of batch.entries()) {
      const outcome = outcomes[index] as Outcome;
      if ('error' in outcome) reject(outcome.error);
      else resolve(outcome.value as never);
    }
  }

  return {
    run(sql, ...values) {
      const result = prepared(sql).run(values);
      return { changes: result.changes, id: Number(result.lastInsertRowid) };
    },
    // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- see Database
    get: <R>(sql: string, ...values: Value[]) => prepared(sql).get(values) as R | undefined,
    all: <R>(sql: string, ...values: Value[]) => prepared(sql).all(values) as R[],
    write: <T>(work: () => T) =>
      new Promise<T>((resolve, reject) => {
        if (pending.length === 0) timers.soon(commitPending);
        pending.push({ work, resolve, reject });
      }),
    close() {
      commitPending();
      closed = true;
      libsql.close();
    },
  };
}

/** Small JSON values by name, on disk: settings, clock, adversary. Cached in memory, since every request reads them. */
export interface KeyValue {
  read<T>(name: string, otherwise: T): T;
  /** Inside `database.write`. */
  write(name: string, value: unknown): void;
  /** Clears the cache, after the table was emptied. */
  forget(): void;
}

export function createKeyValue(database: Database): KeyValue {
  const known = new Map<string, unknown>();
  for (const row of database.all<{ name: string; value: string }>('SELECT name, value FROM notes')) {
    known.set(row.name, JSON.parse(row.value));
  }
  return {
    read: <T>(name: string, otherwise: T) => (known.has(name) ? (known.get(name) as T) : otherwise),
    write(name, value) {
      database.run(
        'INSERT INTO notes (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
        name,
        JSON.stringify(value),
      );
      known.set(name, value);
    },
    forget: () => known.clear(),
  };
}
