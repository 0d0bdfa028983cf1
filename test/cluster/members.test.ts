import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Connection } from '@temporalio/client';
import { openNamespace } from '../harness/namespace.js';
import { KINDS } from '../harness/kinds.js';
import { makeTemporaryDatabase, type TemporaryDatabase } from '../setup/postgres/temporary-database.js';
import { startMembers, type Members } from './members.js';
import { playFlows } from './play.js';

const NAMESPACE = 'two-of-each';
const EACH = 2;

describe('two gateways and two workers on a real Temporal server, with the store on Postgres', () => {
  let members: Members;
  let database: TemporaryDatabase;
  let folder: string;

  beforeAll(async () => {
    const temporalAddress = process.env['TEST_TEMPORAL_ADDRESS'] ?? '';
    const connection = await Connection.connect({ address: temporalAddress });
    await openNamespace(connection, NAMESPACE);
    await connection.close();
    database = await makeTemporaryDatabase();
    folder = await mkdtemp(join(tmpdir(), 'towline-members-'));
    members = await startMembers({ temporalAddress, namespace: NAMESPACE, databaseUrl: database.url, folder });
  });
  afterAll(async () => {
    await members.stop();
    await database.drop();
    await rm(folder, { recursive: true, force: true });
  });

  test('a flow of every kind that one gateway starts is seen to complete by the other, and is executed once', async () => {
    const played = await playFlows(members, EACH * KINDS.length, 'members');
    expect(played.filter(({ state }) => state !== 'completed')).toEqual([]);
    expect(new Set(played.flatMap(({ executions }) => Object.values(executions)))).toEqual(new Set([1]));
    expect(new Set(played.map(({ kind }) => kind)).size).toBe(KINDS.length);
  });

  test('both gateways list the same flows', async () => {
    const lists = await Promise.all([0, 1].map((gateway) => members.call(gateway, 'GET', '/flows?limit=100')));
    const ids = lists.map(({ body }) => (body['flows'] as { flowId: string }[]).map(({ flowId }) => flowId).toSorted());
    expect(ids[0]).toEqual(ids[1]);
    expect(ids[0]?.length).toBeGreaterThanOrEqual(EACH * KINDS.length);
  });
});
