import { text, turnOf, type SqlConnection } from './sql-connection.js';

/** Networks from which an event with proof came: of the service, and of providers. */
export interface ProvenNetworks {
  /** @throws StoreUnavailableError */
  add(network: string): Promise<void>;
  /** The latest first. */
  list(): Promise<readonly string[]>;
}

/** In the table of what the store knows about itself. */
const PREFIX = 'network/';
const MOST_LISTED = 10_000;
/** A sender that has moved. */
const KEPT_MS = 90 * 24 * 60 * 60 * 1_000;

export function createSqlProvenNetworks({
  db,
  now,
}: {
  readonly db: SqlConnection;
  readonly now: () => number;
}): ProvenNetworks {
  return {
    async add(network) {
      const at = now();
      const insert = `INSERT INTO meta (name, at) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET at = excluded.at`;
      const tidy = { sql: `DELETE FROM meta WHERE name LIKE '${PREFIX}%' AND at < ?`, params: [at - KEPT_MS] };
      await db.write([{ sql: insert, params: [PREFIX + network, at] }, tidy], turnOf.meta);
    },
    async list() {
      const sql = `SELECT name FROM meta WHERE name LIKE '${PREFIX}%' ORDER BY at DESC, name LIMIT ${MOST_LISTED}`;
      const [found] = await db.read([{ sql, params: [] }]);
      return (found?.rows ?? []).map((row) => text(row, 'name').slice(PREFIX.length));
    },
  };
}
