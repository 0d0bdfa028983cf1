import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Client, Connection } from '@temporalio/client';
import { createDataConverter } from '../../src/temporal/payload-codec.js';
import { startWorker, type RunningWorker } from '../../src/temporal/worker.js';
import { openNamespace } from '../harness/namespace.js';
import { keyring } from '../store/temporary-store.js';
import { newReference } from '../harness/references.js';
import { openStack, type Stack } from '../harness/stack.js';

/** By hand there are more, and more time: `FLOWS_PER_ACCOUNT=1000`. */
const FLOWS = Number(process.env['FLOWS_PER_ACCOUNT'] ?? 24);
const ACCOUNTS = ['kenya', 'ghana'] as const;
const TASK_QUEUE = 'towline';

interface Side {
  readonly bench: Stack;
  readonly client: Client;
  readonly namespace: string;
  readonly worker: RunningWorker;
}

/** Two accounts on one Temporal server: a namespace, a store, a worker and a service of its own for each. */
let sides: Side[];
let connection: Connection;
const log = { info() {}, warn() {}, error() {}, debug() {} };
const variables = { TEMPORAL_ADDRESS: process.env['TEST_TEMPORAL_ADDRESS'] ?? '' };

beforeAll(async () => {
  connection = await Connection.connect({ address: variables.TEMPORAL_ADDRESS });
  sides = [];
  for (const account of ACCOUNTS) {
    const namespace = newReference(account);
    await openNamespace(connection, namespace);
    const bench = await openStack({ time: 'real', sandbox: { stepMs: 10 }, deps: { account } });
    const dataConverter = createDataConverter({ keyring, namespace });
    const client = new Client({ connection, namespace, dataConverter });
    const worker = await workerOf(namespace, bench);
    sides.push({ bench, client, namespace, worker });
  }
});
afterAll(async () => {
  for (const { worker, bench } of sides) {
    await worker.shutdown();
    await bench.close();
  }
  await connection.close();
});

const workerOf = (namespace: string, { deps }: Stack) =>
  startWorker({
    variables,
    namespace,
    dataConverter: createDataConverter({ keyring, namespace }),
    activities: deps,
    log,
    bundlePath: process.env['TEST_WORKFLOW_BUNDLE'] ?? '',
    taskQueue: TASK_QUEUE,
  });

it(
  `fault 54: two accounts side by side, ${FLOWS} flows each under the same references: none is sent under the other one`,
  async () => {
    const references = Array.from({ length: FLOWS }, () => newReference('side'));
    await Promise.all(
      sides.flatMap(({ client }, side) =>
        references.map(async (reference) => {
          const input = {
            receiverAddress: `0x${String(side + 1).repeat(40)}`,
            chain: 'CELO',
            token: 'CUSD',
            cryptoAmount: `${side + 1}.5`,
            referenceId: reference,
            timeScale: 0.01,
            // However slow the machine is with all of them at once.
            deadlineSeconds: 2_592_000,
          };
          const workflowId = `crypto-send/${reference}`;
          await client.workflow.execute('cryptoSend', { taskQueue: TASK_QUEUE, workflowId, args: [input] });
        }),
      ),
    );
    for (const [side, { bench }] of sides.entries()) {
      for (const reference of references) {
        expect(await bench.executions('sendCrypto', reference)).toBe(1);
        const [claim, ...more] = await bench.store.claims.ofFlow(`crypto-send/${reference}`);
        expect(more).toEqual([]);
        expect(claim).toMatchObject({ account: ACCOUNTS[side], answer: { cryptoAmount: `${side + 1}.5` } });
      }
    }
  },
  120_000 + FLOWS * 500,
);
