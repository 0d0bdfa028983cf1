import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { taskQueueOf, type Queue } from '../../src/protocol/task-queues.js';
import { NAMESPACE } from '../harness/fixed.js';
import { transferInput } from '../harness/inputs.js';
import { newReference } from '../harness/references.js';
import { endOf, untilFlow } from '../harness/reports.js';
import { openStack, type Stack } from '../harness/stack.js';
import { until } from '../harness/until.js';
import cryptoSend from '../kinds/crypto-send.js';

/** Per queue, so that two hanging lookups take all slots of lookups. */
const SLOTS = 2;

const hanging: (() => void)[] = [];
let isSlow = true;
function letGo(): void {
  isSlow = false;
  for (const answer of hanging) answer();
}

let bench: Stack;
beforeAll(async () => {
  bench = await openStack({ worker: false });
});
afterAll(async () => {
  // A worker does not end while they hang.
  letGo();
  await bench.close();
});

test('lookups that hang take the places of the queue of lookups alone: deposits are quoted and sent beside them', async () => {
  const getCryptoSend: typeof bench.service.getCryptoSend = async (...asked) => {
    if (isSlow) await new Promise<void>((resolve) => hanging.push(resolve));
    return bench.service.getCryptoSend(...asked);
  };
  const slots = { flows: SLOTS, money: SLOTS, lookups: SLOTS, callbacks: SLOTS };
  await bench.worker({ service: { ...bench.service, getCryptoSend } }, { slots });

  const started = async (word: string) => {
    const reference = newReference(word);
    return bench.startFlow('crypto-send', reference, { ...cryptoSend.input(reference), timeScale: 0.02 });
  };
  const asking = await Promise.all(Array.from({ length: 2 * SLOTS }, () => started('asking')));
  await until('lookups to hang in all places', () => hanging.length === SLOTS);

  // Each of these is quoted and sent, beside them.
  const transfers = await Promise.all(
    Array.from({ length: 2 * SLOTS }, () => bench.start(transferInput(newReference('beside')))),
  );
  for (const transfer of transfers) await untilFlow(transfer, ({ view }) => view.stage === 'tracking');
  expect(hanging).toHaveLength(SLOTS);

  letGo();
  for (const handle of asking) expect((await endOf(handle)).view.state).toBe('completed');
});

test('quotes that hang take no place of the queue of flows: other flows are sent beside them', async () => {
  const own = await openStack({ worker: false });
  const quoting: (() => void)[] = [];
  let isOver = false;
  const quoteBridge: typeof own.service.quoteBridge = async (...asked) => {
    if (!isOver) await new Promise<void>((resolve) => quoting.push(resolve));
    return own.service.quoteBridge(...asked);
  };
  const slots = { flows: SLOTS, money: SLOTS, lookups: SLOTS, callbacks: SLOTS };
  await own.worker({ service: { ...own.service, quoteBridge } }, { slots });
  try {
    await Promise.all(Array.from({ length: 4 * SLOTS }, () => own.start(transferInput(newReference('quoting')))));
    // Those that ran beside the workflows have given up by then, and the others wait in the queue of lookups.
    await until('quotes to hang in all places of lookups', () => quoting.length > 4 * SLOTS);
    const reference = newReference('beside-quotes');
    const send = await own.startFlow('crypto-send', reference, { ...cryptoSend.input(reference), timeScale: 0.02 });
    await untilFlow(send, ({ view }) => view.stage === 'tracking');
  } finally {
    isOver = true;
    for (const answer of quoting) answer();
    await own.close();
  }
});

test('the setting moneyPerSecond limits the money queue at Temporal, for all workers together, and no other queue', async () => {
  await bench.worker({}, { moneyPerSecond: 3.5 });
  const rates = async (queue: Queue) => {
    const { pollers } = await bench.client.workflowService.describeTaskQueue({
      namespace: NAMESPACE,
      taskQueue: { name: taskQueueOf(bench.taskQueue, queue) },
      taskQueueType: 2,
    });
    return pollers?.map(({ ratePerSecond }) => ratePerSecond) ?? [];
  };
  await until('it to poll for money', async () => (await rates('money')).includes(3.5));
  for (const queue of ['flows', 'lookups', 'callbacks'] as const) expect(await rates(queue)).not.toContain(3.5);
});
