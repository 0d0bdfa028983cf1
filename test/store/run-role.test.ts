import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { clusterUrl } from '../setup/postgres/temporary-database.js';
import { makeTemporaryStore, type TemporaryStore } from './temporary-store.js';

/** By SQLSTATE: not the owner, and no such right. */
const NOT_ALLOWED = { code: '42501' };

// The other tests of the store on Postgres open it as this role, too: what they do needs no more rights.
(clusterUrl === undefined ? describe.skip : describe)('the role of gateways and workers on Postgres', () => {
  let temporary: TemporaryStore;
  let asRunRole: Client;
  beforeEach(async () => {
    temporary = await makeTemporaryStore('postgres');
    const store = await temporary.open();
    await store.audit.append({
      kind: 'start',
      flowId: 'onramp/a',
      action: undefined,
      actor: 'alice',
      role: 'operator',
      means: 'token',
      details: {},
    });
    asRunRole = new Client({ connectionString: temporary.runRoleUrl });
    await asRunRole.connect();
  });
  afterEach(async () => {
    await asRunRole.end();
    await temporary.remove();
  });

  it.each([
    'DROP TRIGGER audit_no_delete ON audit',
    'ALTER TABLE audit DISABLE TRIGGER ALL',
    "SET session_replication_role = 'replica'",
    'CREATE OR REPLACE FUNCTION audit_refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN OLD; END $$',
    'DELETE FROM audit',
    'TRUNCATE audit',
    'DROP TABLE audit',
    'DROP TABLE claims',
    'UPDATE migrations SET usable_from = 1',
    'CREATE TABLE mine (a INTEGER)',
  ])('may not: %s', async (sql) => {
    await expect(asRunRole.query(sql)).rejects.toMatchObject(NOT_ALLOWED);
  });

  it('reads and appends the audit log, whose entries it cannot change', async () => {
    const { rows } = await asRunRole.query('SELECT kind FROM audit ORDER BY seq');
    expect(rows).toEqual([{ kind: 'chain' }, { kind: 'start' }]);
    await expect(asRunRole.query(`UPDATE audit SET actor = 'bob'`)).rejects.toThrow();
  });
});
