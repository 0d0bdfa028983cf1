import { randomUUID } from 'node:crypto';
import { turnOf, type SqlConnection } from './sql-connection.js';

/** Work that one process at a time does for all that share a store. */
export interface DutyStore {
  /**
   * Whether it is this process's for the next `ms`: it is free, or was its own already. Who dies loses it when its time is
   * up.
   *
   * @throws StoreUnavailableError
   */
  take(name: string, ms: number): Promise<boolean>;
  /** Leaves it to the next one that asks, if it is this process's. */
  leave(name: string): Promise<void>;
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
      const sql = `DELETE FROM duties WHERE name = ? AND holder = ?`;
      await db.write([{ sql, params: [name, holder] }], turnOf.duty(name));
    },
  };
}
