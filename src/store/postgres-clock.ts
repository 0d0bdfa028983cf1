import { integer } from './column.js';
import type { SqlConnection } from './sql-connection.js';

const ASKED_EVERY_MS = 60_000;
const NOW = `SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now`;

/**
 * The database's clock, in milliseconds since 1970, so that leases and the ages of quotes are the same on machines whose
 * own clocks differ. Asked for now and then; in between, this machine's clock says how much time has gone by.
 *
 * @param localNow milliseconds since 1970. @default Date.now
 */
export async function followDatabaseClock(db: SqlConnection, localNow = Date.now): Promise<() => number> {
  let aheadMs = 0;
  let askedMs = 0;
  const ask = async (): Promise<void> => {
    askedMs = localNow();
    const [found] = await db.read([{ sql: NOW, params: [] }]);
    // Its answer is of some moment in between.
    aheadMs = Math.round(integer(found?.rows[0], 'now') - (askedMs + localNow()) / 2);
  };
  await ask();
  return () => {
    const nowMs = localNow();
    // Where it cannot be asked, the difference of a minute ago is good enough.
    if (Math.abs(nowMs - askedMs) >= ASKED_EVERY_MS) ask().catch(() => undefined);
    return nowMs + aheadMs;
  };
}
