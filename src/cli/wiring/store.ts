import type { Settings } from '../../config/index.js';
import type { Keyring } from '../../keys/index.js';
import { openPostgresStore } from '../../store/open-postgres-store.js';
import { openStore } from '../../store/open-store.js';
import type { Store } from '../../store/store.js';
import type { Home } from './home.js';

/** The store of the settings: shared where DATABASE_URL is set, else the file in TOWLINE_HOME. */
export function openConfiguredStore(settings: Settings, home: Home, keyring: Keyring): Promise<Store> {
  const { databaseUrl } = settings;
  return databaseUrl === undefined
    ? openStore({ path: home.store, keyring })
    : openPostgresStore({ url: databaseUrl, keyring });
}

/** For people: nothing of the URL, which is a secret. */
export function placeOfStore(settings: Settings, home: Home): string {
  return settings.databaseUrl === undefined ? home.store : 'the database of DATABASE_URL';
}
