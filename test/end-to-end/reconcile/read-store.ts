import { readStoreDatabase } from './store-database.js';
import { readStoreFile } from './store-file.js';

/** Claims and inbox, wherever they lie: a file, or the URL of a Postgres database. */
export async function readStore(storePath: string) {
  return storePath.startsWith('postgres:') ? readStoreDatabase(storePath) : readStoreFile(storePath);
}
