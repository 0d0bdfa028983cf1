import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Connection, type Client } from '@temporalio/client';
import { join } from 'node:path';
import { bindDeployment, differenceOf, watchBinding } from '../../src/cli/wiring/deployment.js';
import { connectTemporal } from '../../src/temporal/connection.js';
import { readDeploymentRecord } from '../../src/temporal/deployment-record.js';
import { openAt, keyring } from '../store/temporary-store.js';
import { newReference } from '../harness/references.js';
import { until } from '../harness/until.js';
import { closedPort, run, scratchFolder } from '../cli/run.js';

const scratch = await scratchFolder();
const address = process.env['TEST_TEMPORAL_ADDRESS'] as string;

/** A namespace of its own, as soon as the server serves it. */
async function makeNamespace(): Promise<string> {
  const namespace = newReference('deployment');
  const connection = await Connection.connect({ address });
  await connection.workflowService.registerNamespace({
    namespace,
    workflowExecutionRetentionPeriod: { seconds: 86_400 as never },
  });
  await until(`the namespace ${namespace}`, () =>
    connection.workflowService.countWorkflowExecutions({ namespace }).then(
      () => true,
      () => false,
    ),
  );
  await connection.close();
  return namespace;
}

describe('a deployment', () => {
  let namespace: string;
  let client: Client;
  let close: () => Promise<void>;
  const stores: Awaited<ReturnType<typeof openAt>>[] = [];
  // Gateways and workers that run in this process listen to its signals until it ends.
  const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'disconnect'] as const;
  const ofProcess: NodeJS.EventEmitter = process;
  const before = SIGNALS.map((signal) => ofProcess.listeners(signal));
  afterAll(() => {
    for (const [at, signal] of SIGNALS.entries())
      for (const listener of ofProcess.listeners(signal) as (() => void)[])
        if (before[at]?.includes(listener) === false) ofProcess.removeListener(signal, listener);
  });
  beforeAll(async () => {
    namespace = await makeNamespace();
    const temporal = connectTemporal({ variables: { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace } });
    ({ client } = temporal);
    close = () => temporal.close();
  });
  afterAll(async () => {
    await close();
    for (const store of stores) await store.close();
  });
  const newStore = async (name: string) => {
    const store = await openAt(join(scratch, `${name}.db`), { keyring });
    stores.push(store);
    return store;
  };

  test('fault 54: is bound once, by the first process, and refuses every other store, account and copy', async () => {
    const [store, other] = [await newStore('first'), await newStore('second')];
    const given = { store, namespace, account: 'kenya' };
    await Promise.all([1, 2, 3].map(() => bindDeployment(client, given)));
    const { id } = await store.deployment.read();
    expect(await readDeploymentRecord(client, namespace)).toEqual({ store: id, account: 'kenya', epoch: 1 });

    await expect(bindDeployment(client, { ...given, store: other })).rejects.toMatchObject({ what: 'store' });
    expect((await other.deployment.read()).boundTo).toBeUndefined();
    await expect(bindDeployment(client, { ...given, account: 'ghana' })).rejects.toMatchObject({ what: 'account' });
    await expect(bindDeployment(client, { ...given, namespace: 'elsewhere' })).rejects.toMatchObject({
      what: 'namespace',
    });

    await store.deployment.raiseEpoch(1);
    await expect(bindDeployment(client, given)).rejects.toMatchObject({ what: 'epoch' });
    expect(
      differenceOf({ store: id, account: 'ghana', epoch: 1 }, { store: id, account: 'kenya', epoch: 1 }),
    ).toMatchObject({ what: 'account' });
  });

  test('is reported to a gateway as soon as Temporal answers', async () => {
    const wrong = { store: await newStore('third'), namespace, account: 'kenya' };
    const fatal: string[] = [];
    const log = { warn: () => undefined, fatal: (message: string) => void fatal.push(message) };
    await expect(watchBinding(client, wrong, log as never)).rejects.toMatchObject({ what: 'store' });

    const away = connectTemporal({ variables: { TEMPORAL_ADDRESS: `127.0.0.1:${await closedPort()}` } });
    const back = { connection: away.client.connection, workflowService: away.client.workflowService };
    const watch = await watchBinding(back, wrong, log as never);
    Object.assign(back, { connection: client.connection, workflowService: client.workflowService });
    await expect(watch.ended).rejects.toMatchObject({ what: 'store' });
    expect(fatal).toHaveLength(1);
    await away.close();
  });

  test('shows in the doctor; a worker and a gateway of another one refuse to start; raise-epoch mends a restore', async () => {
    const own = await makeNamespace();
    const env = (home: string) => ({
      TOWLINE_HOME: join(scratch, home),
      TEMPORAL_ADDRESS: address,
      TEMPORAL_NAMESPACE: own,
      PAYLOAD_KEYS: `k:${Buffer.alloc(32, 7).toString('base64')}`,
      GATEWAY_PORT: '0',
      LOG_LEVEL: 'silent',
    });
    const finding = async (home: string) => {
      const { out } = await run(['doctor', '--json'], env(home));
      const { findings } = JSON.parse(out) as {
        findings: { about: string; verdict: string; code: string; sentence: string }[];
      };
      return findings.find(({ about }) => about === 'deployment');
    };
    expect(await finding('home')).toMatchObject({ verdict: 'note', code: 'not-bound' });
    expect(await run(['store', 'raise-epoch'], env('home'))).toMatchObject({ code: 0 });
    expect(await finding('home')).toMatchObject({ verdict: 'good', sentence: expect.stringContaining('epoch 2') });
    expect(await finding('other')).toMatchObject({ verdict: 'bad', code: 'other-store' });
    for (const command of ['worker', 'gateway']) {
      const { code, err } = await run([command], env('other'));
      // One sentence, which names the namespace that is bound to something else.
      expect(err).toContain(own);
      expect(code).toBe(1);
    }
    expect(await run(['store', 'raise-epoch'], env('other'))).toMatchObject({ code: 1 });
  });
});
