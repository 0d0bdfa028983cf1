import { judgePostgresError } from './postgres-errors.js';
import { StoreRequestError, StoreUnavailableError } from './store-errors.js';

/** However busy the database is: a caller must hear something. */
const MOST_MS = 30_000;

export interface Patience {
  /**
   * Does it again for as long as it may help.
   *
   * @param isCommitLost then it goes on for as long as the server may keep the lock of a lost connection
   * @throws StoreUnavailableError @throws StoreRequestError
   */
  retry<Result>(attempt: () => Promise<Result>, isCommitLost?: () => boolean): Promise<Result>;
}

/**
 * When to give up on a database: after a time in which nothing at all was done by it. While others are served, this one
 * is merely behind them.
 */
export function createPatience(giveUpAfterMs: number): Patience {
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
          // A bug of ours is not made better by trying again.
          if (error instanceof TypeError) throw error;
          const { kind, code } = judgePostgresError(error);
          if (kind === 'refused') throw new StoreRequestError(code);
          const nowMs = performance.now();
          const isBehind = nowMs - Math.max(askedMs, lastDoneMs) < giveUpAfterMs;
          if (!(isBehind || isCommitLost()) || nowMs - askedMs >= MOST_MS) {
            throw new StoreUnavailableError(isCommitLost() ? 'COMMIT_UNKNOWN' : code, 'database');
          }
        }
        // It was just restarted, or another process has the lock: back soon, at a moment that is not everybody's.
        await new Promise((resolve) => {
          setTimeout(resolve, 20 + Math.random() * 80);
        });
      }
    },
  };
}
