import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { migrateFile } from '../../src/store/libsql/open.js';
import { migratePostgres } from '../../src/store/postgres/migrate.js';
import { MIGRATIONS } from '../../src/store/migrations.js';
import { StoreRequestError, StoreUnavailableError } from '../../src/store/store-errors.js';
import { describeStores } from './store-kinds.js';
import { makeTemporaryStore, type TemporaryStore } from './temporary-store.js';

describeStores('a migration of a store', (kind) => {
  const version = MIGRATIONS.length;
  let temporary: TemporaryStore;
  beforeEach(async () => {
    temporary = await makeTemporaryStore(kind, { isEmpty: true });
  });
  afterEach(() => temporary.remove());

  const migrateTo = (steps: readonly string[]) => {
    const migrations = [...MIGRATIONS, { usableFrom: 1, steps }];
    return kind === 'libsql'
      ? migrateFile(temporary.place, migrations)
      : migratePostgres(temporary.place, { migrations });
  };
  const versions = async () => (await temporary.execute('SELECT version FROM migrations ORDER BY version')).length;

  it('with a wrong statement changes nothing, fails as StoreRequestError, and can be made once it is right', async () => {
    const add = 'ALTER TABLE claims ADD COLUMN noted TEXT';
    await expect(migrateTo([add, 'ALTER TABLE nothing ADD COLUMN noted TEXT'])).rejects.toBeInstanceOf(
      StoreRequestError,
    );
    expect(await versions()).toBe(version);
    await expect(temporary.execute('SELECT noted FROM claims')).rejects.toThrow();
    expect(await migrateTo([add])).toBe(version + 1);
    expect(await versions()).toBe(version + 1);
    expect(await temporary.execute('SELECT noted FROM claims')).toEqual([]);
  });
});

it('a migration of a Postgres that cannot be reached fails as StoreUnavailableError ECONNREFUSED', async () => {
  const failed: unknown = await migratePostgres('postgres://a:b@127.0.0.1:1/c').catch((error: unknown) => error);
  expect(failed).toBeInstanceOf(StoreUnavailableError);
  expect(failed).toMatchObject({ code: 'ECONNREFUSED', place: 'database' });
});
