import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createStore, type Store } from '../../src/store/store.js';
import { openConnection } from '../../src/store/libsql/connection.js';
import { MIGRATIONS } from '../../src/store/migrations.js';
import { migrate } from '../../src/store/schema.js';
import { turnOf } from '../../src/store/sql-connection.js';
import { keyring } from '../harness/fixed.js';
import { transferInput } from '../harness/inputs.js';
import { newReference } from '../harness/references.js';
import { gatewayUnderTest, type GatewayUnderTest } from './setup/gateway-under-test.js';

/** As full as a disk: the database may have no further page. */
const MOST_PAGES = 200;
const EVENTS = 100;

describe('a gateway whose disk becomes full', () => {
  let folder: string;
  let store: Store;
  let tested: GatewayUnderTest;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'towline-full-'));
    const db = await openConnection({ path: join(folder, 'store.db'), pragmas: [`max_page_count=${MOST_PAGES}`] });
    await migrate(db, MIGRATIONS);
    store = await createStore(db, keyring, Date.now);
    tested = await gatewayUnderTest({ temporalAddress: '127.0.0.1:1', wrapStore: () => store });
  });
  afterAll(async () => {
    await tested.close();
    await store.close();
    await rm(folder, { recursive: true, force: true });
  });

  it(`fault 37: answers each of ${EVENTS} webhooks with 200 and a row, or with 503, Retry-After and none`, async () => {
    const reference = newReference();
    const answers: { n: number; status: number; retryAfter: string | null }[] = [];
    for (let n = 0; n < EVENTS; n += 1) {
      const answer = await fetch(tested.url + tested.callbackPath(reference), {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ status: 'PAYMENT_SENT', n, note: 'x'.repeat(10_000) }),
      });
      answers.push({ n, status: answer.status, retryAfter: answer.headers.get('retry-after') });
    }
    const taken = answers.filter(({ status }) => status === 200).map(({ n }) => n);
    const refused = answers.filter(({ status }) => status === 503);
    expect(taken.length).toBeGreaterThan(10);
    expect(refused.length).toBeGreaterThan(10);
    expect(taken.length + refused.length).toBe(EVENTS);
    expect(new Set(refused.map(({ retryAfter }) => retryAfter))).toEqual(new Set(['5']));
    const rows = await store.inbox.list({ limit: 2 * EVENTS });
    const stored = rows.map(({ body }) => (body as { n: number }).n).toSorted((a, b) => a - b);
    expect(stored).toEqual(taken);
  });
});

it('a gateway whose audit log cannot be written starts no flow and decodes nothing, with the reason; it still accepts events', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'towline-audit-'));
  const storePath = join(folder, 'store.db');
  const tested = await gatewayUnderTest({ temporalAddress: '127.0.0.1:1', storePath });
  const db = await openConnection({ path: storePath });
  const execute = (sql: string) => db.write([{ sql, params: [] }], turnOf.meta);
  const post = async (path: string, body: object) => {
    const answer = await fetch(tested.url + path, {
      method: 'POST',
      headers: { authorization: 'Bearer dev-token', 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return { status: answer.status, retryAfter: answer.headers.get('retry-after'), body: await answer.json() };
  };
  try {
    await execute(`CREATE TRIGGER audit_full BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'full'); END`);
    const refused = {
      status: 503,
      retryAfter: '5',
      body: { success: false, data: { code: 'audit_unavailable' } },
    };
    const reference = newReference();
    const start = () => post('/flows/bridge-transfer', transferInput(reference));
    expect(await start()).toMatchObject(refused);
    expect(await post('/codec/decode', { payloads: [] })).toMatchObject(refused);
    expect((await post(tested.callbackPath(reference), { status: 'PAYMENT_SENT' })).status).toBe(200);
    await execute('DROP TRIGGER audit_full');
    expect(await start()).toMatchObject({ status: 503, body: { message: expect.stringMatching(/^Temporal/) } });
    expect(await tested.store.audit.startersOf(`bridge-transfer/${reference}`)).toEqual(['dev']);
  } finally {
    await db.close();
    await tested.close();
    await rm(folder, { recursive: true, force: true });
  }
});
