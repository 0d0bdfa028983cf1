import Libsql from 'libsql';
import { LIBSQL } from '../../../src/store/dialect.js';
import type { SqlConnection } from '../../../src/store/sql-connection.js';
import type { Request, StepResult } from '../../../src/store/sql-message.js';
import { StoreRequestError } from '../../../src/store/store-errors.js';

/** The store's database: the real SQL and the real engine, in memory and on this thread. */
export interface MemoryDatabase {
  /** One transaction. */
  run(request: Request): readonly StepResult[];
  /** One state. */
  read(request: Request): readonly StepResult[];
  /** Transactions so far. */
  readonly writes: number;
  all(sql: string, ...params: (string | number)[]): readonly Record<string, unknown>[];
  copy(atMs: number): StoreCopy;
  /** Everything as it was at the copy. */
  restore(copy: StoreCopy): void;
  close(): void;
}

/** A backup: its tables with their rows, then what hangs on them. */
export interface StoreCopy {
  readonly atMs: number;
  readonly tables: readonly { readonly sql: string; readonly name: string; readonly rows: readonly Row[] }[];
  readonly others: readonly string[];
}
type Row = Readonly<Record<string, unknown>>;

export function openMemoryDatabase(): MemoryDatabase {
  let db = new Libsql(':memory:');
  type Statement = ReturnType<typeof db.prepare> & { readonly reader: boolean };
  const statements = new Map<string, { readonly statement: Statement; readonly reads: boolean }>();
  const known = (sql: string) => {
    let entry = statements.get(sql);
    if (entry === undefined) {
      const statement = db.prepare(sql) as Statement;
      entry = { statement, reads: statement.reader };
      statements.set(sql, entry);
    }
    return entry;
  };
  const prepared = (sql: string) => known(sql).statement;
  let writes = 0;
  const step = (sql: string, params: readonly unknown[]): StepResult => {
    const { statement, reads } = known(sql);
    if (reads) return { rows: statement.all([...params]) as StepResult['rows'], changes: 0 };
    return { rows: [], changes: statement.run([...params]).changes };
  };
  return {
    get writes() {
      return writes;
    },
    run(request) {
      writes += 1;
      prepared('BEGIN IMMEDIATE').run([]);
      try {
        const results = request.map(({ sql, params }) => step(sql, params));
        prepared('COMMIT').run([]);
        return results;
      } catch (error) {
        if (db.inTransaction) prepared('ROLLBACK').run([]);
        throw new StoreRequestError((error as { code?: string }).code ?? 'SQLITE_ERROR');
      }
    },
    read: (request) => request.map(({ sql, params }) => step(sql, params)),
    all: (sql, ...params) => prepared(sql).all(params) as Record<string, unknown>[],
    copy(atMs) {
      const made = db.prepare(
        `SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'`,
      );
      const all = made.all([]) as { readonly type: string; readonly name: string; readonly sql: string }[];
      const rowsOf = (name: string) => db.prepare(`SELECT * FROM ${name}`).all([]) as Row[];
      return {
        atMs,
        tables: all.filter(({ type }) => type === 'table').map((table) => ({ ...table, rows: rowsOf(table.name) })),
        others: all.filter(({ type }) => type !== 'table').map(({ sql }) => sql),
      };
    },
    restore({ tables, others }) {
      db.close();
      db = new Libsql(':memory:');
      statements.clear();
      for (const { sql, name, rows } of tables) {
        db.exec(sql);
        for (const row of rows) {
          const columns = Object.keys(row);
          const values = Object.values(row).map((value) => (value instanceof ArrayBuffer ? Buffer.from(value) : value));
          db.prepare(`INSERT INTO ${name} (${columns.join()}) VALUES (${columns.map(() => '?').join()})`).run(values);
        }
      }
      // Triggers last: they would count the rows once more.
      for (const sql of others) db.exec(sql);
      writes += 1;
    },
    close: () => db.close(),
  };
}

/** How the connection of one process behaves. */
export type Through = <T>(label: string, writes: boolean, work: () => T) => Promise<T>;

/** A connection of its own for each process: `labelOf` names the step of the store that uses it. */
export function connectionOf(database: MemoryDatabase, through: Through, labelOf: () => string): SqlConnection {
  return {
    dialect: LIBSQL,
    write: (request) => through(labelOf(), true, () => database.run(request)),
    read: (request) => through(labelOf(), false, () => database.read(request)),
    close: () => Promise.resolve(),
  };
}
