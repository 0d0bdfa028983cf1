import { mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Keyring } from '../../keys/index.js';
import { createStore, type Store } from '../store.js';
import { migrate } from '../dialect.js';
import { StoreUnavailableError } from '../store-errors.js';
import { openConnection } from './connection.js';
import { LIBSQL_MIGRATIONS } from './migrations.js';

/**
 * The embedded store: one file, which gateway and workers of this machine open at the same time.
 *
 * @param options.path made where it is not there, readable by its owner alone
 * @param options.keyring opens what was sealed before, and seals
 * @param options.now milliseconds since 1970. @default Date.now
 * @throws StoreUnavailableError where the file cannot be opened or written
 * @throws StoreTooNewError where a newer Towline wrote it
 * @throws UnknownKeyError, SealBrokenError where the keyring is not the one that it was made with
 */
export async function openStore(options: {
  readonly path: string;
  readonly keyring: Keyring;
  readonly now?: () => number;
}): Promise<Store> {
  await makeFile(options.path);
  const db = await openConnection({ path: options.path });
  try {
    await migrate(db, LIBSQL_MIGRATIONS);
    return await createStore(db, options.keyring, options.now ?? Date.now);
  } catch (error) {
    await db.close();
    throw error;
  }
}

/**
 * SQLite gives its other files the mode of this one. Only where the file is new: closing any handle of it drops all
 * POSIX locks that this process holds on it, and with them those of a store that it has open already.
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
