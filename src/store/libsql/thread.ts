import type * as threads from 'node:worker_threads';
import type Libsql from 'libsql';
import type { Batch, FromThread, NumberedStep, Outcome, StepResult, ThreadData, ToThread } from '../sql-message.js';

/**
 * The whole program of the thread that owns the database: libsql is synchronous, and an fsync or a lock would block the
 * event loop of gateway and worker.
 *
 * It is passed to the thread as text (see `connection.ts`), so it must be complete in itself: nothing from
 * outside except types. A file would have to be a different one for each of dist, the tests (whose threads cannot load
 * TypeScript) and development.
 */
export function libsqlThread(require: NodeJS.Require): void {
  const { parentPort, workerData } = require('node:worker_threads') as typeof threads;
  const data = workerData as ThreadData;
  const Database = require(data.libsql) as typeof Libsql;
  type Statement = ReturnType<Libsql.Database['prepare']> & { readonly reader: boolean };

  let db: Libsql.Database | undefined;
  const texts = new Map<number, string>();
  const statements = new Map<number, Statement>();

  const connection = (): Libsql.Database => {
    if (db !== undefined) return db;
    const opening = new Database(data.path);
    try {
      for (const pragma of data.pragmas) opening.prepare(`PRAGMA ${pragma}`).all();
    } catch (error) {
      opening.close();
      throw error;
    }
    db = opening;
    return db;
  };

  const codeOf = (error: unknown): string => {
    const code = (error as { code?: unknown }).code;
    if (typeof code !== 'string' || code === '') return 'SQLITE_ERROR';
    // It has no name for a value that is not of its column's type (SQLITE_CONSTRAINT_DATATYPE).
    return code === 'UNKNOWN_SQLITE_ERROR_3091' ? 'SQLITE_MISMATCH' : code;
  };

  const run = (db: Libsql.Database, request: readonly NumberedStep[]): StepResult[] =>
    request.map(([text, params]) => {
      let statement = statements.get(text);
      if (statement === undefined) {
        statement = db.prepare(texts.get(text) ?? '');
        statements.set(text, statement);
      }
      if (statement.reader) return { rows: statement.all([...params]) as StepResult['rows'], changes: 0 };
      return { rows: [], changes: statement.run([...params]).changes };
    });

  // Errors that make SQLite give up the whole transaction (disk full, I/O) are not of one request: they fail the batch.
  const isOfOneRequest = (code: string): boolean => /^SQLITE_(CONSTRAINT|ERROR|MISMATCH|RANGE|TOOBIG)/.test(code);

  // A savepoint for each request: one that fails leaves the others of its batch alone.
  const attempt = (db: Libsql.Database, request: readonly NumberedStep[]): Outcome => {
    db.exec('SAVEPOINT request');
    try {
      const results = run(db, request);
      db.exec('RELEASE request');
      return { results };
    } catch (error) {
      const code = codeOf(error);
      if (!db.inTransaction || !isOfOneRequest(code)) throw error;
      db.exec('ROLLBACK TO request');
      db.exec('RELEASE request');
      return { failed: code };
    }
  };

  // Readers get one snapshot; writers take the lock at the beginning, since one that upgrades later can only fail.
  const transact = (
    batch: Batch,
    one: (db: Libsql.Database, request: readonly NumberedStep[]) => Outcome,
  ): Outcome[] => {
    const db = connection();
    db.exec(batch.writes ? 'BEGIN IMMEDIATE' : 'BEGIN');
    try {
      const outcomes = batch.requests.map((request) => one(db, request));
      db.exec('COMMIT');
      return outcomes;
    } catch (error) {
      if (db.inTransaction) db.exec('ROLLBACK');
      throw error;
    }
  };

  // First without savepoints, which cost as much as a small request; if one request of a batch fails, the batch is done
  // again with them.
  const transactAll = (batch: Batch): Outcome[] => {
    for (const [text, sql] of batch.texts) texts.set(text, sql);
    // Set only before the commit: its outcome is never guessed.
    let oneFailed = false;
    const attemptPlainly = (db: Libsql.Database, request: readonly NumberedStep[]): Outcome => {
      try {
        return { results: run(db, request) };
      } catch (error) {
        oneFailed = db.inTransaction && isOfOneRequest(codeOf(error));
        throw error;
      }
    };
    try {
      return transact(batch, attemptPlainly);
    } catch (error) {
      if (!oneFailed) throw error;
    }
    return transact(batch, attempt);
  };

  // Another process holds the lock for well under a millisecond: retry soon, at a random moment.
  const untilUnlocked = async <Result>(work: () => Result): Promise<Result> => {
    const deadlineMs = performance.now() + data.lockTimeoutMs;
    for (;;) {
      try {
        return work();
      } catch (error) {
        if (!/^SQLITE_(BUSY|LOCKED)/.test(codeOf(error)) || performance.now() >= deadlineMs) throw error;
      }
      await new Promise((resolve) => {
        setTimeout(resolve, 1 + Math.random() * 4);
      });
    }
  };

  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread is no window
  const answer = (message: FromThread): void => parentPort?.postMessage(message);
  const failed = (error: unknown): void => answer({ kind: 'failed', code: codeOf(error) });

  // One at a time: the next batch is sent when this one is answered.
  parentPort?.on('message', (message: ToThread) => {
    if (message.kind === 'batch') {
      untilUnlocked(() => transactAll(message.batch)).then((outcomes) => answer({ kind: 'done', outcomes }), failed);
      return;
    }
    statements.clear();
    db?.close();
    answer({ kind: 'closed' });
    parentPort?.close();
  });
  untilUnlocked(connection).then(() => answer({ kind: 'opened' }), failed);
}
