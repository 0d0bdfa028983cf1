import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { POSTGRES } from '../dialect.js';
import { MIGRATIONS } from '../migrations.js';
import { MAKE_MIGRATIONS, type Migrations, SELECT_VERSION, statementsOf } from '../schema.js';
import { StoreRequestError, StoreUnavailableError } from '../store-errors.js';
import { judgePostgresError } from './transaction.js';

/** A lock of the database, not of a table: only one process migrates at a time. The number is arbitrary. */
const LOCK = 7_216_004_433_120_551n;
const AGAIN_MS = 200;
/** A statement that waits for a table's lock blocks all others meanwhile: it gives up, and is tried again. */
const LOCK_TIMEOUT = '2s';
/** `lock_not_available`, and `deadlock_detected`: each of two held what the other one waited for. */
const IN_THE_WAY: readonly unknown[] = ['55P03', '40P01'];

/**
 * Brings the tables up to date, however long it takes, while gateways and workers continue: each migration commits once,
 * whole.
 *
 * @param options.migrations for tests. @default those of this build
 * @param options.runRole gets the rights of gateways and workers; it owns nothing, so it can change no table and no trigger
 * @returns the version after that
 * @throws StoreUnavailableError @throws StoreRequestError if the database does not let us create tables
 */
export async function migratePostgres(
  url: string,
  {
    migrations = MIGRATIONS,
    runRole,
  }: { readonly migrations?: Migrations; readonly runRole?: string | undefined } = {},
): Promise<number> {
  const client = new Client({ connectionString: url, keepAlive: true, fallback_application_name: 'towline-migrate' });
  // Queries on a connection that ends fail by themselves.
  client.on('error', () => {});
  try {
    await client.connect();
    await client.query(`SET statement_timeout = 0; SET lock_timeout = 0; SET idle_in_transaction_session_timeout = 0`);
    await client.query(`SELECT pg_advisory_lock(${LOCK})`);
    await client.query(MAKE_MIGRATIONS);
    const version = await versionOf(client);
    for (const [index, migration] of migrations.entries()) {
      if (index >= version) await inOneTransaction(client, statementsOf(index + 1, migration, POSTGRES));
    }
    if (runRole !== undefined) await client.query(grantsTo(runRole));
    return Math.max(version, migrations.length);
  } catch (error) {
    const { kind, code } = judgePostgresError(error);
    throw kind === 'refused' ? new StoreRequestError(code) : new StoreUnavailableError(code, 'database');
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Of the one schema that the tables are in. */
const grantsTo = (role: string): string => `
  DO $$ BEGIN
    EXECUTE format('REVOKE CREATE ON SCHEMA %I FROM PUBLIC', current_schema);
    EXECUTE format('GRANT USAGE ON SCHEMA %I TO ${role}', current_schema);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA %I TO ${role}', current_schema);
  END $$;
  REVOKE INSERT, UPDATE, DELETE ON migrations FROM ${role};
  REVOKE DELETE ON audit FROM ${role};`;

async function versionOf(client: Client): Promise<number> {
  const { rows } = await client.query<{ version: number }>(SELECT_VERSION);
  return rows[0]?.version ?? 0;
}

/** Gateways and workers continue meanwhile: what fails because of their locks is tried again. */
async function inOneTransaction(client: Client, statements: readonly string[]): Promise<void> {
  for (;;) {
    try {
      await client.query(`BEGIN; SET LOCAL lock_timeout = '${LOCK_TIMEOUT}'; ${statements.join(';\n')}; COMMIT`);
      return;
    } catch (error) {
      await client.query('ROLLBACK');
      if (!IN_THE_WAY.includes((error as { code?: unknown }).code)) throw error;
      await sleep(AGAIN_MS);
    }
  }
}
