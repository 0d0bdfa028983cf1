import type { Keyring } from '../keys/index.js';
import { createDeploymentStore } from './deployment.js';
import { createSealedJson } from './sealed-json.js';
import { createSqlClaims } from './sql-claims.js';
import { turnOf, type SqlConnection } from './sql-connection.js';
import { createSqlInbox } from './sql-inbox.js';
import { createSqlQuotes } from './sql-quotes.js';
import { loadOrMakeStoreKey, mac } from './store-key.js';
import type { Store } from './store.js';

/** On a connection whose schema is up to date, which the store then owns. */
export async function createStore(db: SqlConnection, keyring: Keyring, now: () => number): Promise<Store> {
  const storeKey = await loadOrMakeStoreKey(db, keyring, now());
  const sealed = createSealedJson(keyring);
  return {
    claims: createSqlClaims({ db, sealed, now }),
    inbox: createSqlInbox({ db, sealed, now }),
    quotes: createSqlQuotes({ db, sealed, now }),
    deployment: await createDeploymentStore(db, now),
    mac: (purpose, text) => mac(storeKey, purpose, text),
    async check() {
      const sql = `INSERT INTO meta VALUES ('check', NULL, ?) ON CONFLICT (name) DO UPDATE SET at = excluded.at`;
      await db.write([{ sql, params: [now()] }], turnOf.meta);
    },
    close: () => db.close(),
  };
}
