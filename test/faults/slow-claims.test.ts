import { afterEach, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { gatewayUnderTest, type GatewayUnderTest } from '../gateway/setup/gateway-under-test.js';
import { newReference } from '../harness/references.js';
import { until } from '../harness/until.js';
import { makeTemporaryDatabase } from '../setup/postgres/temporary-database.js';
import { describeStores, type StoreKind } from '../store/store-kinds.js';
import type { Store } from '../../src/store/store.js';

const WEBHOOKS = 50;
/** Several kinds have it, so the claims must decide which flow is meant. */
const EVENT = 'transaction.deposit.status.updated';

/** A gateway without Temporal, whose claims can be locked. */
interface Lockable {
  readonly tested: GatewayUnderTest;
  lock(): Promise<void>;
  unlock(): Promise<void>;
  close(): Promise<void>;
}

describeStores('webhooks that come while the claims are locked (fault 61)', (kind) => {
  let gateway: Lockable | undefined;
  afterEach(async () => {
    await gateway?.unlock();
    await gateway?.close();
    gateway = undefined;
  });

  it('are answered 200, and are matched to their flows when the claims can be read', async () => {
    gateway = await open(kind);
    const { tested } = gateway;
    const references = Array.from({ length: WEBHOOKS }, newReference);
    for (const reference of references) {
      const key = { account: 'default', operation: 'createBankCheckout', reference };
      const attempt = { owner: 'o', flowId: `bank-checkout/${reference}`, fingerprint: 'f' };
      await tested.store.claims.reserve(key, attempt);
      await tested.store.claims.markSending(key, 'o');
    }
    const path = new URL(tested.gateway.inbound.webhook).pathname;
    const post = (referenceId: string) =>
      tested.post(path, { event: EVENT, data: { referenceId, status: 'SUCCESSFUL' } });

    await gateway.lock();
    const answers = await Promise.all(references.map(post));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(await tested.store.inbox.toMatch({ proven: true, most: 2 * WEBHOOKS })).toHaveLength(WEBHOOKS);
    // Recognised as repeated, although its flow is not known yet.
    expect((await post(references[0] ?? '')).status).toBe(200);

    await gateway.unlock();
    for (const reference of references) {
      const flowId = `bank-checkout/${reference}`;
      const rows = await until('its flow to be found', async () => {
        const found = await tested.store.inbox.list({ flowId });
        return found.length > 0 && found;
      });
      expect(rows).toMatchObject([{ flowId, reference, status: 'SUCCESSFUL', state: 'waiting', source: 'webhook' }]);
    }
    expect(await tested.store.inbox.toMatch({ proven: true, most: 1 })).toEqual([]);
  });
});

const open = (kind: StoreKind): Promise<Lockable> => (kind === 'postgres' ? openOnPostgres() : openEmbedded());

const temporalAddress = '127.0.0.1:1';

async function openOnPostgres(): Promise<Lockable> {
  const { url, drop } = await makeTemporaryDatabase();
  const tested = await gatewayUnderTest({ temporalAddress, storePath: url });
  const holder = new Client({ connectionString: url });
  await holder.connect();
  return {
    tested,
    lock: async () => void (await holder.query('BEGIN; LOCK TABLE claims IN ACCESS EXCLUSIVE MODE')),
    unlock: async () => void (await holder.query('ROLLBACK')),
    async close() {
      await holder.end();
      await tested.close();
      await drop();
    },
  };
}

/** One file has one lock, which would stop the inbox, too: here it is the reads of the claims that do not end. */
async function openEmbedded(): Promise<Lockable> {
  let unlock = (): void => undefined;
  let locked: Promise<void> | undefined;
  const tested = await gatewayUnderTest({
    temporalAddress,
    wrapStore: (store): Store => ({
      ...store,
      claims: {
        ...store.claims,
        async ofFlow(...flowIds) {
          await locked;
          return store.claims.ofFlow(...flowIds);
        },
      },
    }),
  });
  return {
    tested,
    lock() {
      locked = new Promise((resolve) => (unlock = resolve));
      return Promise.resolve();
    },
    unlock: () => Promise.resolve(unlock()),
    close: () => tested.close(),
  };
}
