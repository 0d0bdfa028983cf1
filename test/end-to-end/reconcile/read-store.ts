import { openSealed, type PayloadKeys } from './open-sealed.js';
import { readStoreDatabase } from './store-database.js';
import { readStoreFile } from './store-file.js';
import type { Witnesses } from './witnesses.js';

/** Claims and inbox, in a file, or at the URL of a Postgres database. With SQL of its own. */
export async function readStore(
  storePath: string,
  keys: PayloadKeys,
): Promise<Pick<Witnesses, 'claims' | 'orders' | 'inbox'>> {
  const isDatabase = storePath.startsWith('postgres:');
  const { claims, orders, inbox } = await (isDatabase ? readStoreDatabase(storePath) : readStoreFile(storePath));
  return {
    claims,
    orders,
    inbox: inbox.map(({ id, proof, sealed, ...row }) => ({
      ...row,
      id,
      isTrusted: proof !== null,
      body: sealed === null ? undefined : openSealed(new Uint8Array(sealed), ['inbox', id, 'body'], keys),
    })),
  };
}
