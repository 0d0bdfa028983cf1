import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createCallbackSender } from '../../src/callbacks/index.js';
import { CALLBACK_WORKFLOW, callbackIdOf, UNDELIVERED } from '../../src/protocol/vocabulary.js';
import { startReceiver, type Received, type Receiver } from './receiver.js';
import { newReference } from '../harness/references.js';
import { openStack, type Stack } from '../harness/stack.js';
import { transferInput, trusted } from '../harness/inputs.js';
import { untilFlow } from '../harness/reports.js';
import { until } from '../harness/until.js';
import type { CallbackReport } from '../../src/protocol/callbacks.js';

const HOUR_MS = 3_600_000;
const secrets = [`whsec_${Buffer.alloc(32, 5).toString('base64')}`];

let bench: Stack;
let caller: Receiver;
beforeAll(async () => {
  const callbacks = createCallbackSender({ secrets: () => secrets, allowLoopback: true });
  bench = await openStack({ time: 'skipping', deps: { callbacks } });
  caller = await startReceiver();
});
afterAll(async () => {
  await bench.close();
  await caller.close();
});

describe('a caller that is unavailable for days', () => {
  it('is tried slower and slower for three days, then listed, and people are notified; an order sends the newest state again', async () => {
    caller.answer = () => 503;
    const reference = newReference('days');
    const handle = await bench.start(transferInput(reference, { callbackUrl: caller.url }));
    await untilFlow(handle, ({ view }) => view.serviceReference !== null);
    // What happens after the money was sent is reported at once, too.
    await caller.until((all) => all.some(({ body }) => body.data.stage === 'tracking'));
    await handle.signal('events', [trusted('COMPLETED')]);
    await handle.result();
    const delivery = bench.client.workflow.getHandle(callbackIdOf(`bridge-transfer/${reference}`));
    const report = () => delivery.query<CallbackReport>('callbacks');

    await caller.until((all) => all.some(({ body }) => body.data.outcome !== null));
    const first = caller.received.findIndex(({ body }) => body.data.outcome !== null);
    for (let hours = 0; hours < 80 && (await report()).state !== 'undelivered'; hours += 4) {
      await bench.pass(4 * HOUR_MS);
    }
    const given = await report();
    expect(given).toMatchObject({ state: 'undelivered', failure: { httpStatus: 503 }, delivered: null });
    const attempts = caller.received.slice(first);
    expect(new Set(attempts.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect(given.failure?.attempt).toBe(attempts.length);
    // 5 s, 10 s, 20 s … one hour, and then every hour.
    expect(attempts.length).toBeGreaterThan(72);
    expect(attempts.length).toBeLessThan(90);
    expect(Date.parse(given.since ?? '') - Date.parse(given.current?.change.timestamp ?? '')).toBeGreaterThan(
      70 * HOUR_MS,
    );
    const flowId = `bridge-transfer/${reference}`;
    const matters = async () => (await bench.store.matters.due(100)).matters;
    expect((await delivery.describe()).searchAttributes).toMatchObject({ TowlineState: [UNDELIVERED] });
    // The changes that were never delivered are named.
    const stages = attempts[0]?.body.data.skipped.map(({ stage }: { stage: string }) => stage);
    expect(stages).toContain('tracking');
    const opened = await until('people to be notified', async () => (await matters())[0]);
    expect(opened).toMatchObject({ content: { kind: 'callback_undelivered', flowId }, resolvedAtMs: undefined });

    caller.answer = () => 204;
    await delivery.signal('resend', { actor: 'ada' });
    await until('it to be resolved', async () => (await matters())[0]?.resolvedAtMs !== undefined);
    const result = (await delivery.result()) as Pick<CallbackReport, 'delivered'>;
    const last = caller.received.at(-1) as Received;
    expect(result.delivered?.notification.id).toBe(last.headers['webhook-id']);
    expect(last.text).toBe(attempts[0]?.text);

    // By then its delivery has ended: an order starts another one, which has the last callback to send.
    const { order } = await report();
    const workflowId = `${callbackIdOf(flowId)}/again`;
    const again = await bench.client.workflow.start(CALLBACK_WORKFLOW, {
      taskQueue: bench.taskQueue,
      workflowId,
      args: [order],
    });
    await again.result();
    const repeated = caller.received.at(-1) as Received;
    expect(caller.received.indexOf(last)).toBe(caller.received.length - 2);
    expect([repeated.headers['webhook-id'], repeated.text]).toEqual([last.headers['webhook-id'], last.text]);
  });
});
