import { randomUUID } from 'node:crypto';
import { text, turnOf, type SqlConnection } from './sql-connection.js';

/** Work that one process at a time does for all that share a store. */
export interface DutyStore {
  /**
   * Whether this process holds the duty for the next `ms`: it was free, or was held already by this process. A process
   * that dies loses it when its time is up.
   *
   * @throws StoreUnavailableError
   */
  take(name: string, ms: number): Promise<boolean>;
  /** Gives it up for the next one that asks, if this process holds it. */
  leave(name: string): Promise<void>;
  /** Gives it up, and stores its result for all processes, unless the process has lost the duty meanwhile. */
  finish(name: string, result: string): Promise<void>;
  /** The last result; undefined before the first one. */
  result(name: string): Promise<string | undefined>;
}

export function createSqlDuties({ db, now }: { readonly db: SqlConnection; readonly now: () => number }): DutyStore {
  const holder = randomUUID();
  return {
    async take(name, ms) {
      const at = now();
      const sql = `INSERT INTO duties (name, holder, ends_at) VALUES (?, ?, ?)
        ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, ends_at = excluded.ends_at
        WHERE duties.holder = excluded.holder OR duties.ends_at <= ?`;
      const [taken] = await db.write([{ sql, params: [name, holder, at + ms, at] }], turnOf.duty(name));
      return taken?.changes === 1;
    },
    async leave(name) {
      const sql = `UPDATE duties SET ends_at = ? WHERE name = ? AND holder = ?`;
      await db.write([{ sql, params: [now(), name, holder] }], turnOf.duty(name));
    },
    async finish(name, result) {
      const sql = `UPDATE duties SET ends_at = ?, result = ? WHERE name = ? AND holder = ?`;
      await db.write([{ sql, params: [now(), result, name, holder] }], turnOf.duty(name));
    },
    async result(name) {
      const sql = `SELECT result FROM duties WHERE name = ? AND result IS NOT NULL`;
      const [found] = await db.read([{ sql, params: [name] }]);
      return found?.rows[0] === undefined ? undefined : text(found.rows[0], 'result');
    },
  };
}

/** Work that one gateway at a time does for all that share a store. */
export interface Duty {
  /**
   * Another gateway has it until this one finds it free: the store is queried now and then. @throws
   * StoreUnavailableError
   */
  isOurs(): Promise<boolean>;
  /** Leaves it to another gateway at once. */
  leave(): Promise<void>;
}

/** @param forMs after the death of its holder, another gateway has it after at most this time plus a third of it */
export function createDuty(duties: DutyStore, name: string, forMs: number, monotonicMs: () => number): Duty {
  let askedMs = -Infinity;
  let ours = false;
  return {
    async isOurs() {
      const nowMs = monotonicMs();
      if (nowMs - askedMs < forMs / 3) return ours;
      // If the store does not answer, another process may hold it soon.
      ours = false;
      ours = await duties.take(name, forMs);
      askedMs = nowMs;
      return ours;
    },
    async leave() {
      if (ours) await duties.leave(name).catch(() => undefined);
      ours = false;
    },
  };
}
