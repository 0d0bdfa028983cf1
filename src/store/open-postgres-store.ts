import type { Keyring } from '../keys/index.js';
import { createStore } from './create-store.js';
import { migrate } from './migrate.js';
import { followDatabaseClock } from './postgres-clock.js';
import { createPostgresConnection } from './postgres-connection.js';
import { POSTGRES_MIGRATIONS } from './postgres-migrations.js';
import type { Store } from './store.js';

/**
 * The store that several machines share: a Postgres database (13 or newer), or a schema of it, of its own.
 *
 * @param options.url `postgres://…`; a secret
 * @param options.keyring opens what was sealed before, and seals
 * @param options.now milliseconds since 1970. @default the database's clock
 * @param options.giveUpAfterMs how long a request is tried while the database is away or busy. @default 5000
 * @throws StoreUnavailableError where the database cannot be reached, or does not let us in
 * @throws StoreRequestError where it does not let us make tables
 * @throws StoreTooNewError where a newer Towline wrote it
 * @throws UnknownKeyError, SealBrokenError where the keyring is not the one that it was made with
 */
export async function openPostgresStore(options: {
  readonly url: string;
  readonly keyring: Keyring;
  readonly now?: () => number;
  readonly giveUpAfterMs?: number;
}): Promise<Store> {
  const { url, keyring, now, giveUpAfterMs } = options;
  const db = createPostgresConnection({ url, ...(giveUpAfterMs === undefined ? {} : { giveUpAfterMs }) });
  try {
    await migrate(db, POSTGRES_MIGRATIONS);
    return await createStore(db, keyring, now ?? (await followDatabaseClock(db)));
  } catch (error) {
    await db.close();
    throw error;
  }
}
