import type { Keyring } from '../../keys/index.js';
import { createStore, type Store } from '../store.js';
import { type Migrations, prepareSchema } from '../schema.js';
import { createPostgresConnection } from './connection.js';
import { migratePostgres } from './migrate.js';
import { MIGRATIONS } from '../migrations.js';
import { integer, type SqlConnection } from '../sql-connection.js';
import { systemClock } from '../../clock.js';

/**
 * The store that several machines share: a Postgres database (13 or newer), or a schema of it, of its own.
 *
 * @param options.url `postgres://…`; a secret
 * @param options.keyring opens what was sealed before, and seals
 * @param options.now milliseconds since 1970. @default the database's clock
 * @param options.giveUpAfterMs how long a request is tried while the database is unavailable or busy. @default 5000
 * @param options.migrations for tests. @default those of this build
 * @throws StoreUnavailableError if the database cannot be reached, or refuses the login
 * @throws StoreRequestError if it does not let us create tables
 * @throws StoreTooOldError, StoreTooNewError if its tables do not fit this Towline
 * @throws UnknownKeyError, SealBrokenError if the keyring is not the one that it was made with
 */
export async function openPostgresStore(options: {
  readonly url: string;
  readonly keyring: Keyring;
  readonly now?: () => number;
  readonly giveUpAfterMs?: number;
  readonly migrations?: Migrations;
}): Promise<Store> {
  const { url, keyring, now, giveUpAfterMs, migrations = MIGRATIONS } = options;
  const common = { url, ...(giveUpAfterMs === undefined ? {} : { giveUpAfterMs }) };
  const db = createPostgresConnection({ ...common, connections: FOR_ALL_ELSE });
  const forClaims = createPostgresConnection({ ...common, connections: FOR_CLAIMS });
  try {
    await prepareSchema(db, migrations, () => migratePostgres(url, { migrations }));
    return await createStore(db, keyring, now ?? (await followDatabaseClock(db)), forClaims);
  } catch (error) {
    await Promise.all([db.close(), forClaims.close()]);
    throw error;
  }
}

/** Connections of one process. However many events come, a claim never waits for one of their connections. */
const FOR_CLAIMS = 4;
const FOR_ALL_ELSE = 8;

const ASKED_EVERY_MS = 60_000;
const NOW = `SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now`;

/**
 * The database's clock, in milliseconds since 1970, so that leases and the ages of quotes are the same on machines
 * whose own clocks differ. It is queried now and then; in between, this machine's clock measures the elapsed time.
 *
 * @param localNow milliseconds since 1970. @default the system's clock
 */
export async function followDatabaseClock(db: SqlConnection, localNow = systemClock.nowMs): Promise<() => number> {
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
    // If the query fails, the difference of a minute ago is good enough.
    if (Math.abs(nowMs - askedMs) >= ASKED_EVERY_MS) ask().catch(() => undefined);
    return nowMs + aheadMs;
  };
}
