import { mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Keyring } from '../../keys/index.js';
import { createStore, type Store } from '../store.js';
import { migrate, prepareSchema, type Schema } from '../schema.js';
import { StoreUnavailableError } from '../store-errors.js';
import { openConnection } from './connection.js';
import { LIBSQL_SCHEMA } from './migrations.js';

/**
 * The embedded store: one file, which gateway and workers of this machine open at the same time.
 *
 * @param options.path created if missing, readable only by its owner
 * @param options.keyring opens what was sealed before, and seals
 * @param options.now milliseconds since 1970. @default Date.now
 * @param options.schema for tests. @default that of this build
 * @throws StoreUnavailableError if the file cannot be opened or written
 * @throws StoreTooOldError, StoreTooNewError if its tables do not fit this Towline
 * @throws UnknownKeyError, SealBrokenError if the keyring is not the one that it was made with
 */
export async function openStore(options: {
  readonly path: string;
  readonly keyring: Keyring;
  readonly now?: () => number;
  readonly schema?: Schema;
}): Promise<Store> {
  const schema = options.schema ?? LIBSQL_SCHEMA;
  await makeFile(options.path);
  const db = await openConnection({ path: options.path });
  try {
    await prepareSchema(db, schema, () => migrate(db, schema));
    return await createStore(db, options.keyring, options.now ?? Date.now);
  } catch (error) {
    await db.close();
    throw error;
  }
}

/** All writes of one file happen one after the other: they wait for this, and this for them. */
const MIGRATION_WAITS_MS = 600_000;

/**
 * Brings the tables up to date, and creates them if there are none. @returns the version after that @throws
 * StoreUnavailableError
 */
export async function migrateFile(path: string, schema: Schema = LIBSQL_SCHEMA): Promise<number> {
  await makeFile(path);
  const db = await openConnection({ path, lockTimeoutMs: MIGRATION_WAITS_MS });
  try {
    return await migrate(db, schema);
  } finally {
    await db.close();
  }
}

/**
 * SQLite gives its other files the mode of this one. Only for a new file: closing any handle of it drops all POSIX
 * locks that this process holds on it, including those of a store that it has open already.
 */
async function makeFile(path: string): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await (await open(path, 'wx', 0o600)).close();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return;
    throw new StoreUnavailableError((error as NodeJS.ErrnoException).code ?? 'OPEN');
  }
}
