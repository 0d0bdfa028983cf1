import { access, mkdir, open, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import Libsql from 'libsql';
import type { Keyring } from '../../keys/index.js';
import { createStore, type Store } from '../store.js';
import { migrate, type Migrations, prepareSchema } from '../schema.js';
import { StoreUnavailableError } from '../store-errors.js';
import type { ThreadData } from '../sql-message.js';
import { openConnection, type StoreThread } from './connection.js';
import { MIGRATIONS } from '../migrations.js';
import { systemClock } from '../../clock.js';

/**
 * The embedded store: one file, which gateway and workers of this machine open at the same time.
 *
 * @param options.path created if missing, readable only by its owner
 * @param options.keyring opens what was sealed before, and seals
 * @param options.now milliseconds since 1970. @default the system's clock
 * @param options.migrations for tests. @default those of this build
 * @param options.startThread for tests, as in `openConnection`
 * @throws StoreUnavailableError if the file cannot be opened or written
 * @throws StoreTooOldError, StoreTooNewError if its tables do not fit this Towline
 * @throws UnknownKeyError, SealBrokenError if the keyring is not the one that it was made with
 */
export async function openStore(options: {
  readonly path: string;
  readonly keyring: Keyring;
  readonly now?: () => number;
  readonly migrations?: Migrations;
  readonly startThread?: (data: ThreadData) => StoreThread;
}): Promise<Store> {
  const { path, migrations = MIGRATIONS, startThread } = options;
  await makeFile(path);
  const db = await openConnection({ path, ...(startThread === undefined ? {} : { startThread }) });
  try {
    await prepareSchema(db, migrations, () => migrate(db, migrations));
    return await createStore(db, options.keyring, options.now ?? systemClock.nowMs);
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
export async function migrateFile(path: string, migrations = MIGRATIONS): Promise<number> {
  await makeFile(path);
  const db = await openConnection({ path, lockTimeoutMs: MIGRATION_WAITS_MS });
  try {
    return await migrate(db, migrations);
  } finally {
    await db.close();
  }
}

/**
 * Copies the store's file to a new one, as it is at one moment, while other processes write to it. Not for a process
 * that has the store open: when this closes the file, the locks of that process on it are gone.
 *
 * @throws StoreUnavailableError if there is no store, if the new file exists, or if one of them cannot be used
 */
export async function copyFileOfStore(path: string, copy: string): Promise<void> {
  try {
    await access(path);
    const file = await open(copy, 'wx', 0o600);
    try {
      const db = new Libsql(path);
      try {
        db.prepare('VACUUM INTO ?').run(copy);
      } finally {
        db.close();
      }
      await file.sync();
    } catch (error) {
      await rm(copy, { force: true });
      throw error;
    } finally {
      await file.close();
    }
  } catch (error) {
    throw new StoreUnavailableError((error as NodeJS.ErrnoException).code ?? 'COPY');
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
