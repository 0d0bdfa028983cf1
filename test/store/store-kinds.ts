import { describe } from '@jest/globals';
import { clusterUrl } from '../setup/postgres/temporary-database.js';

export type StoreKind = 'libsql' | 'postgres';

/** The same sentences about both stores. Without a Postgres its half is skipped, as the global setup says. */
export function describeStores(title: string, sentences: (kind: StoreKind) => void): void {
  describe(`${title} (embedded)`, () => sentences('libsql'));
  (clusterUrl === undefined ? describe.skip : describe)(`${title} (on Postgres)`, () => sentences('postgres'));
}
