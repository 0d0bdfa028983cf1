import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { reportSettlement } from '../../src/contract/bridge.js';
import type { FlowReport } from '../../src/api/flow.js';
import { migrateFile } from '../../src/store/libsql/open.js';
import { migratePostgres } from '../../src/store/postgres/migrate.js';
import { MIGRATIONS } from '../../src/store/migrations.js';
import type { Migration, Migrations } from '../../src/store/schema.js';
import { StoreTooNewError, StoreTooOldError } from '../../src/store/store-errors.js';
import type { Store } from '../../src/store/store.js';
import { openSlowService } from '../crash-matrix/slow-service.js';
import { signed } from '../gateway/setup/sign.js';
import { SETTLEMENT_SECRET } from '../harness/fixed.js';
import { openGateway, type TestGateway } from '../harness/gateway.js';
import { newReference } from '../harness/references.js';
import { openStack } from '../harness/stack.js';
import type { TestWorker } from '../harness/temporal.js';
import { until } from '../harness/until.js';
import cryptoSend from '../kinds/crypto-send.js';
import { statesOf } from './states-of.js';
import { describeStores } from './store-kinds.js';
import { anEvent, keyring, makeTemporaryStore, openAt, type TemporaryStore } from './temporary-store.js';

const SENT_AT_ONCE = 4;

const TABLES = [
  'claims',
  'claim_orders',
  'payment_hashes',
  'inbox',
  'inbox_flows',
  'meta',
  'deployment',
  'quotes',
  'duties',
];

/** As the next version may be: a column more in each table, and an index of some of them. */
const ADDITIVE: Migration = {
  usableFrom: 1,
  steps: [
    ...TABLES.map((table) => `ALTER TABLE ${table} ADD COLUMN noted TEXT`),
    'CREATE INDEX inbox_noted ON inbox (noted) WHERE noted IS NOT NULL',
    'CREATE INDEX claims_noted ON claims (noted)',
  ],
};

describeStores('the schema of a store', (kind) => {
  const next: Migrations = [...MIGRATIONS, ADDITIVE];
  let temporary: TemporaryStore;
  beforeEach(async () => {
    temporary = await makeTemporaryStore(kind);
  });
  afterEach(() => temporary.remove());

  const migrateTo = (migrations: Migrations) =>
    kind === 'libsql' ? migrateFile(temporary.place, migrations) : migratePostgres(temporary.place, { migrations });

  /** One flow from its claim to its event, by this build. */
  async function use({ claims, inbox }: Store, name: string): Promise<void> {
    const key = { account: 'a', operation: 'o', reference: name };
    const flowId = `bridge-transfer/${name}`;
    expect(await claims.reserve(key, { owner: 'x', flowId, fingerprint: 'f' })).toMatchObject({ kind: 'reserved' });
    expect(await claims.markSending(key, 'x')).toBe('sending');
    const { id } = await inbox.receive(anEvent({ flowId }));
    await inbox.lease({ proven: 99, unproven: 99, perFlow: 9, leaseMs: 1_000 });
    await inbox.markDelivered(flowId, [id]);
    await claims.recordAnswer(key, { name });
    await inbox.settle([{ id, state: 'applied' }]);
    expect((await claims.get(key))?.phase).toBe('answered');
    expect((await inbox.get(id))?.state).toBe('applied');
  }

  it('goes from version N to N + 1, and is used by builds of N again, with flows under way all the while', async () => {
    const first = await temporary.open();
    await use(first, 'before');
    const migrated = new AbortController();
    let used = 0;
    const flows = async (): Promise<void> => {
      for (;;) {
        await use(first, `during-${(used += 1)}`);
        if (migrated.signal.aborted) return;
      }
    };
    const underWay = flows();
    expect(await migrateTo(next)).toBe(MIGRATIONS.length + 1);
    migrated.abort();
    await underWay;
    expect((await temporary.execute('SELECT noted FROM claims')).every(({ noted }) => noted === null)).toBe(true);

    const newer = await temporary.open({ migrations: next });
    await use(newer, 'newer');
    // The release is rolled back: the running process continues, and another one of its build starts.
    await use(first, 'after');
    await use(await temporary.open(), 'back');
    expect((await statesOf(newer.inbox)).applied).toBe(used + 4);
  });

  it('goes to N + 1 while worker and gateway are replaced, and back: one POST for each flow, none cut, a row for each webhook', async () => {
    let slow: Awaited<ReturnType<typeof openSlowService>> | undefined;
    const between = async (url: string) => (slow = await openSlowService(url));
    const stack = await openStack({
      storePath: temporary.place,
      between,
      timeoutMs: 60_000,
      worker: false,
    });
    const { client, taskQueue, address: temporalAddress } = stack;
    const stores: Store[] = [];
    const openProcesses = async (migrations: Migrations): Promise<{ worker: TestWorker; gateway: TestGateway }> => {
      const store = await openAt(temporary.place, { keyring, migrations });
      stores.push(store);
      const gateway = await openGateway({ temporalAddress, store, client, taskQueue });
      return { worker: await stack.worker({ store }), gateway };
    };
    let present: Awaited<ReturnType<typeof openProcesses>> | undefined;
    const posted: string[] = [];
    /** One webhook after the other, each again if the gateway was replaced meanwhile, as its sender does. */
    const postWebhooks = async (stopped: AbortSignal): Promise<void> => {
      for (let unanswered: string | undefined; !stopped.aborted || unanswered !== undefined;) {
        const to = present?.gateway;
        const reference = unanswered ?? newReference('reported');
        const body = JSON.stringify({ provider_reference_id: reference, status: 'SETTLING' });
        const headers = { 'content-type': 'application/json', ...signed(SETTLEMENT_SECRET, body) };
        const answer = await fetch(`${to?.url}${reportSettlement.path}`, { method: 'POST', headers, body }).catch(
          (error: unknown) => (to === present?.gateway ? Promise.reject(error) : undefined),
        );
        await answer?.arrayBuffer();
        unanswered = answer?.status === 200 ? undefined : reference;
        if (unanswered === undefined) posted.push(reference);
        else if (to === present?.gateway) throw new Error(`a webhook was answered ${answer?.status}`);
      }
    };
    const references: string[] = [];
    /** Their POSTs are under way when it resolves. */
    const send = async () => {
      const now = Array.from({ length: SENT_AT_ONCE }, () => newReference('migrated'));
      references.push(...now);
      for (const reference of now) {
        await stack.control('POST', '/scenarios', { reference, ending: cryptoSend.open.ending });
        await stack.startFlow('crypto-send', reference, { ...cryptoSend.input(reference), timeScale: 0.1 });
      }
      await until('the POSTs to be under way', () => slow?.underWay() === SENT_AT_ONCE);
    };
    /** Webhooks come all the time that this takes. */
    const whileWebhooksCome = async (work: () => Promise<unknown>) => {
      const stopped = new AbortController();
      const sender = postWebhooks(stopped.signal);
      sender.catch(() => undefined);
      try {
        await work();
      } finally {
        stopped.abort();
      }
      await sender;
    };
    /** The other takes over what this one does not finish. */
    const replace = async (migrations: Migrations) => {
      const old = present;
      present = await openProcesses(migrations);
      const ended = Promise.all([old?.worker.shutdown(), old?.gateway.close()]);
      slow?.letGo();
      await ended;
    };
    try {
      await replace(MIGRATIONS);
      await send();
      await whileWebhooksCome(async () => {
        expect(await migrateTo(next)).toBe(MIGRATIONS.length + 1);
        await replace(next);
      });
      await send();
      await whileWebhooksCome(() => replace(MIGRATIONS));
      await send();
      slow?.letGo();
      for (const reference of references) await stack.move(reference, 'SUCCESSFUL');
      for (const reference of references) {
        const { view } = (await stack.client.workflow.getHandle(`crypto-send/${reference}`).result()) as FlowReport;
        expect([view.state, view.timeline.filter(({ stage }) => stage === 'outcome-unknown')]).toEqual([
          'completed',
          [],
        ]);
        expect(await stack.executions('sendCrypto', reference)).toBe(1);
      }
      expect([slow?.cut(), slow?.posts()]).toEqual([0, 3 * SENT_AT_ONCE]);
      const rows = await stack.store.inbox.list({ limit: 100_000, bodies: false });
      expect(new Set(rows.map(({ reference }) => reference))).toEqual(new Set(posted));
      expect(rows).toHaveLength(posted.length);
    } finally {
      slow?.letGo();
      await Promise.all([present?.worker.shutdown(), present?.gateway.close()]);
      await stack.close();
      for (const store of stores) await store.close();
    }
  });

  it('is made at the first start by one of several processes, and only checked from then on', async () => {
    const empty = await makeTemporaryStore(kind, { isEmpty: true });
    const stores = await Promise.all([empty.open(), empty.open(), empty.open()]);
    for (const [n, store] of stores.entries()) await use(store, `r${n}`);
    await expect(empty.open({ migrations: next })).rejects.toThrow(StoreTooOldError);
    await expect(empty.execute('SELECT noted FROM claims')).rejects.toThrow();
    await empty.remove();
  });

  it('is not migrated again once it is', async () => {
    expect(await migrateTo(next)).toBe(MIGRATIONS.length + 1);
    expect(await migrateTo(next)).toBe(MIGRATIONS.length + 1);
  });

  it('that lacks what a build needs does not open (StoreTooOldError) before a migration', async () => {
    await temporary.open();
    await expect(temporary.open({ migrations: next })).rejects.toThrow(StoreTooOldError);
    await migrateTo(next);
    await use(await temporary.open({ migrations: next }), 'migrated');
  });

  it('from which a newer build removed something does not open (StoreTooNewError) in an older build', async () => {
    await temporary.open();
    const contracted = [...MIGRATIONS, { ...ADDITIVE, usableFrom: 2 }];
    await migrateTo(contracted);
    await expect(temporary.open()).rejects.toThrow(StoreTooNewError);
    await use(await temporary.open({ migrations: contracted }), 'contracted');
  });
});
