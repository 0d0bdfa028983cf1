import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { callbackCapability } from '../../src/flows/capability.js';
import { openStore } from '../../src/store/open-store.js';
import type { Store } from '../../src/store/store.js';
import { gatewayUnderTest, keyring, type GatewayUnderTest } from './setup/gateway-under-test.js';
import { startKillable, type KillableGateway } from './setup/killable-gateway.js';
import { startProbeWorker, type ProbeWorker } from './setup/probe-worker.js';
import { createRandom } from './setup/random.js';
import { newReference, transferInput } from './setup/transfers.js';
import { until } from './setup/until.js';

const NOWHERE = '127.0.0.1:1';
const ROUNDS = 6;

describe('a gateway that is killed', () => {
  let helper: GatewayUnderTest;
  let worker: ProbeWorker;
  let home: string;
  let store: Store;
  beforeAll(async () => {
    // Starts the flows; the killed gateways share its task queue, and nothing else.
    helper = await gatewayUnderTest();
    worker = await startProbeWorker(helper.taskQueue);
    home = await mkdtemp(join(tmpdir(), 'towline-killed-'));
    store = await openStore({ path: join(home, 'store.db'), keyring });
  }, 60_000);
  afterAll(async () => {
    await store.close();
    await helper.close();
    await worker.stop();
    await rm(home, { recursive: true, force: true });
  });

  const gateway = (temporalAddress = process.env['TEST_TEMPORAL_ADDRESS'] ?? ''): Promise<KillableGateway> =>
    startKillable({ GATEWAY_PORT: '0', TOWLINE_HOME: home, TEMPORAL_ADDRESS: temporalAddress, LOG_LEVEL: 'silent' });

  /** The status, or 0 where the gateway was killed before it answered. */
  const post = async (url: string, reference: string, body: object): Promise<number> => {
    const flowId = `bridge-transfer/${reference}`;
    const path = `/callbacks/${flowId}/${callbackCapability(store, flowId)}`;
    const headers = { 'content-type': 'application/json' };
    return fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) }).then(
      ({ status }) => status,
      () => 0,
    );
  };
  const started = async (): Promise<string> => {
    const reference = newReference();
    expect((await helper.post('/flows/bridge-transfer', transferInput(reference))).status).toBe(201);
    return reference;
  };
  const settledRows = (reference: string) =>
    until(
      'settled rows',
      async () => {
        const rows = await store.inbox.list({ flowId: `bridge-transfer/${reference}`, limit: 500 });
        return rows.length > 0 && rows.every(({ settledAt }) => settledAt !== null) && rows;
      },
      30_000,
    );

  it('between row and signal delivers after its restart', async () => {
    const reference = await started();
    const first = await gateway(NOWHERE);
    expect(await post(first.url, reference, { status: 'COMPLETED' })).toBe(200);
    await first.kill();
    expect(await store.inbox.list({ flowId: `bridge-transfer/${reference}` })).toMatchObject([{ state: 'waiting' }]);

    const second = await gateway();
    expect(await settledRows(reference)).toMatchObject([{ state: 'applied' }]);
    await second.kill();
  }, 60_000);

  it(`at any moment, ${ROUNDS} times, loses nothing that it had taken, and applies each event once`, async () => {
    const random = createRandom(35);
    const references = await Promise.all(Array.from({ length: 5 }, started));
    const taken = new Map<string, number>(references.map((reference) => [reference, 0]));
    let sent = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      const running = await gateway();
      const killAfter = 1 + random.below(40);
      const wave = Array.from({ length: 60 }, async (_, n) => {
        const reference = references[n % references.length] ?? '';
        sent += 1;
        const status = await post(running.url, reference, { status: 'PAYMENT_SENT', round, n });
        if (status === 200) taken.set(reference, (taken.get(reference) ?? 0) + 1);
        answered += 1;
      });
      let answered = 0;
      await until('answers', () => answered >= killAfter);
      await running.kill();
      await Promise.all(wave);
    }
    const last = await gateway();
    let rows = 0;
    for (const reference of references) {
      const settled = await settledRows(reference);
      // A row whose answer was cut off counts as not taken, yet is there.
      expect(settled.length).toBeGreaterThanOrEqual(taken.get(reference) ?? 0);
      expect(settled.every(({ state }) => state === 'applied')).toBe(true);
      rows += settled.length;
      const { body } = await helper.get(`/flows/bridge-transfer/${reference}`);
      const delivered = body['timeline'].flatMap(({ detail }: { detail: string }) => detail.split(' ')).length;
      // Signals may repeat what a killed gateway had sent and not noted; the flow takes each id once.
      expect(delivered).toBeGreaterThanOrEqual(settled.length);
    }
    await last.kill();
    expect(rows).toBeLessThanOrEqual(sent);
    expect([...taken.values()].reduce((sum, count) => sum + count, 0)).toBeGreaterThan(ROUNDS);
  }, 120_000);
});
