import { integer, turnOf, type Dialect, type SqlConnection } from './sql-connection.js';
import { StoreRequestError, StoreTooNewError, StoreTooOldError } from './store-errors.js';

/** Of both databases, with the types of Postgres; or of each of them. */
type Ddl = string | Readonly<Record<Dialect['name'], readonly string[]>>;

/** One change of the tables. Released ones never change: append. */
export interface Migration {
  /**
   * Of one transaction. Gateways and workers wait for the tables that it changes, so it must be short: the first one that
   * adds an index to a table of many rows needs a way to build it beside them (`CREATE INDEX CONCURRENTLY`).
   */
  readonly steps: readonly Ddl[];
  /**
   * The oldest version whose builds also work on the tables after this change: a migration that only adds repeats the
   * value before it, one that removes something has its own number.
   */
  readonly usableFrom: number;
}

/** In their order, for ever: number n is at index n - 1. */
export type Migrations = readonly Migration[];

/** The version of a store's tables. */
interface SchemaVersion {
  readonly version: number;
  readonly usableFrom: number;
}

export const MAKE_MIGRATIONS = `CREATE TABLE IF NOT EXISTS migrations (version INTEGER PRIMARY KEY, usable_from INTEGER NOT NULL)`;
export const SELECT_VERSION = `SELECT version, usable_from FROM migrations ORDER BY version DESC LIMIT 1`;

/** Undefined: no table was ever created. */
async function schemaVersion(db: SqlConnection): Promise<SchemaVersion | undefined> {
  try {
    const [found] = await db.read([{ sql: SELECT_VERSION, params: [] }]);
    const row = found?.rows[0];
    return row && { version: integer(row, 'version'), usableFrom: integer(row, 'usable_from') };
  } catch (error) {
    if (error instanceof StoreRequestError && db.dialect.isMissingTable(error.code)) return undefined;
    throw error;
  }
}

/**
 * For a process that starts: an empty store gets its tables, any other is only checked. Migrations may take hours.
 *
 * @throws StoreTooOldError, StoreTooNewError if this build does not work with the tables
 */
export async function prepareSchema(
  db: SqlConnection,
  migrations: Migrations,
  migrateAll: () => Promise<unknown>,
): Promise<void> {
  if ((await schemaVersion(db)) === undefined) await migrateAll();
  const { version = 0, usableFrom = 0 } = (await schemaVersion(db)) ?? {};
  if (version < migrations.length) throw new StoreTooOldError(version, migrations.length);
  if (usableFrom > migrations.length) throw new StoreTooNewError(version, usableFrom, migrations.length);
}

/**
 * Brings the tables of an embedded store up to date: each migration commits once, whole. Processes that do it at once are
 * fine.
 *
 * @returns the version from then on
 */
export async function migrate(db: SqlConnection, migrations: Migrations): Promise<number> {
  const write = (statements: readonly string[]) =>
    db.write(
      statements.map((sql) => ({ sql, params: [] })),
      turnOf.meta,
    );
  await write([MAKE_MIGRATIONS]);
  const version = (await schemaVersion(db))?.version ?? 0;
  for (const [index, migration] of migrations.entries()) {
    if (index < version) continue;
    try {
      await write(statementsOf(index + 1, migration, db.dialect));
    } catch (error) {
      // The mark was there already: another process was faster, and its migration is committed.
      if (!(error instanceof StoreRequestError && db.dialect.isConflict(error.code))) throw error;
    }
  }
  return Math.max(version, migrations.length);
}

/** Those of its transaction; the first one marks it as made. */
export const statementsOf = (
  version: number,
  { usableFrom, steps }: Migration,
  dialect: Dialect,
): readonly string[] => [
  `INSERT INTO migrations (version, usable_from) VALUES (${version}, ${usableFrom})`,
  ...steps.flatMap((step) => (typeof step === 'string' ? dialect.ddl(step) : step[dialect.name])),
];
