import { POSTGRES } from '../dialect.js';
import type { SqlConnection, Turn } from '../sql-connection.js';
import type { Request, StepResult } from '../sql-message.js';
import { StoreRequestError, StoreUnavailableError } from '../store-errors.js';
import { createPool, queryOf } from './pool.js';
import { CommitLostError, type LostCommit, transact, judgePostgresError } from './transaction.js';

type Results = readonly StepResult[];

interface Waiting {
  readonly request: Request;
  readonly resolve: (results: Results) => void;
  readonly reject: (error: unknown) => void;
}

const MOST_AT_ONCE = 64;

/**
 * A database that several machines share. Requests of one turn that come during a transaction of that turn share the
 * next one, and so a commit; independent turns run side by side.
 *
 * @param options.giveUpAfterMs how long a request is tried while the database does nothing at all. @default 5000
 * @param options.connections at most. @default 10
 */
export function createPostgresConnection(options: {
  readonly url: string;
  readonly giveUpAfterMs?: number;
  readonly connections?: number;
}): SqlConnection {
  const connections = options.connections ?? 10;
  const pool = createPool(options.url, connections);
  const slots = createSlots(connections);
  const patience = createPatience(options.giveUpAfterMs ?? 5_000);
  const queues = new Map<string, Waiting[]>();
  const underWay = new Set<Promise<unknown>>();
  let closing: Promise<void> | undefined;

  const transactUntilDone = async (turn: Turn, requests: readonly Request[]): Promise<readonly Results[]> => {
    let lost: LostCommit | undefined;
    return patience.retry(
      async () => {
        try {
          return await slots.within(() => transact(pool, turn, requests, lost));
        } catch (error) {
          if (!(error instanceof CommitLostError)) throw error;
          if (!turn.repeatable) lost = error.commit;
          throw error.cause;
        }
      },
      () => lost !== undefined,
    );
  };

  /** If one of several requests is refused, each is tried alone, so that the others succeed. */
  const settle = async (turn: Turn, batch: readonly Waiting[]): Promise<void> => {
    try {
      const results = await transactUntilDone(
        turn,
        batch.map(({ request }) => request),
      );
      batch.forEach(({ resolve }, index) => resolve(results[index] ?? []));
    } catch (error) {
      if (error instanceof StoreRequestError && batch.length > 1) for (const one of batch) await settle(turn, [one]);
      else for (const { reject } of batch) reject(error);
    }
  };

  const work = async (turn: Turn, queue: Waiting[]): Promise<void> => {
    // Requests of the same tick go together.
    await new Promise((resolve) => setImmediate(resolve));
    while (queue.length > 0) await settle(turn, queue.splice(0, MOST_AT_ONCE));
    queues.delete(turn.name);
  };

  const read = async (request: Request): Promise<Results> => {
    const [only, ...others] = request;
    if (only !== undefined && others.length === 0) return [resultOf(await pool.query(queryOf(only)))];
    const client = await pool.connect();
    let isSound = false;
    try {
      await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
      const results: StepResult[] = [];
      for (const step of request) results.push(resultOf(await client.query(queryOf(step))));
      await client.query('COMMIT');
      isSound = true;
      return results;
    } finally {
      client.release(!isSound);
    }
  };

  /** Closing waits for it. */
  const tracked = <Result>(start: () => Promise<Result>): Promise<Result> => {
    if (closing !== undefined) return Promise.reject(new StoreUnavailableError('CLOSED', 'database'));
    const running = start();
    const settled = running.then(
      () => undefined,
      () => undefined,
    );
    underWay.add(settled);
    void settled.then(() => underWay.delete(settled));
    return running;
  };

  return {
    dialect: POSTGRES,
    write: (request, turn) =>
      tracked(
        () =>
          new Promise<Results>((resolve, reject) => {
            const queue = queues.get(turn.name);
            const waiting = { request, resolve, reject };
            if (queue !== undefined) {
              queue.push(waiting);
              return;
            }
            const own = [waiting];
            queues.set(turn.name, own);
            void work(turn, own);
          }),
      ),
    read: (request) => tracked(() => patience.retry(() => slots.within(() => read(request)))),
    close() {
      closing ??= Promise.all(underWay).then(() => pool.end());
      return closing;
    },
  };
}

function resultOf({ rows, rowCount }: { rows: unknown[]; rowCount: number | null }): StepResult {
  return { rows: rows as StepResult['rows'], changes: rowCount ?? 0 };
}

/** However busy the database is: a caller must get an answer. */
const MOST_MS = 30_000;

interface Patience {
  /**
   * Repeats the attempt for as long as it may help.
   *
   * @param isCommitLost then it continues for as long as the server may keep the lock of a lost connection
   * @throws StoreUnavailableError @throws StoreRequestError
   */
  retry<Result>(attempt: () => Promise<Result>, isCommitLost?: () => boolean): Promise<Result>;
}

/**
 * Decides when to give up on a database: after a time in which it did nothing at all. While it serves other requests,
 * this one is only queued behind them.
 */
function createPatience(giveUpAfterMs: number): Patience {
  let lastDoneMs = -Infinity;
  return {
    async retry(attempt, isCommitLost = () => false) {
      const askedMs = performance.now();
      for (;;) {
        try {
          const result = await attempt();
          lastDoneMs = performance.now();
          return result;
        } catch (error) {
          // Retrying does not help against a bug of ours.
          if (error instanceof TypeError) throw error;
          const { kind, code } = judgePostgresError(error);
          if (kind === 'refused') throw new StoreRequestError(code);
          const nowMs = performance.now();
          const isBehind = nowMs - Math.max(askedMs, lastDoneMs) < giveUpAfterMs;
          if (!(isBehind || isCommitLost()) || nowMs - askedMs >= MOST_MS) {
            throw new StoreUnavailableError(isCommitLost() ? 'COMMIT_UNKNOWN' : code, 'database');
          }
        }
        // It was just restarted, or another process has the lock: retry soon, at a random moment.
        await new Promise((resolve) => {
          setTimeout(resolve, 20 + Math.random() * 80);
        });
      }
    },
  };
}

interface Slots {
  /** Runs the work when a slot is free, in the order of arrival. */
  within<Result>(work: () => Promise<Result>): Promise<Result>;
}

/** At most this many at once. */
function createSlots(most: number): Slots {
  const waiting: (() => void)[] = [];
  let taken = 0;
  return {
    async within(work) {
      if (taken < most) taken += 1;
      else await new Promise<void>((resolve) => waiting.push(resolve));
      try {
        return await work();
      } finally {
        // The slot is handed on, so that no later request gets in between.
        const next = waiting.shift();
        if (next === undefined) taken -= 1;
        else next();
      }
    },
  };
}
