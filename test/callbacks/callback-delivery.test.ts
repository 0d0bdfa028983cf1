import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createCallbackSender } from '../../src/callbacks/index.js';
import type { CallbackOrder, CallbackReport, FlowChange, Notification } from '../../src/protocol/callbacks.js';
import { PLAINTEXT, UNDECODABLE, UNKNOWN_KEY } from '../../src/protocol/plaintext-marker.js';
import {
  CALLBACK_WORKFLOW,
  callbackIdOf,
  CHANGES_SIGNAL,
  RESEND_SIGNAL,
  UNDELIVERED,
} from '../../src/protocol/vocabulary.js';
import { MAX_SIGNALS_PER_RUN, MAX_SKIPPED } from '../../workflows/engine/policies.js';
import { newReference } from '../harness/references.js';
import { openStack, type Stack } from '../harness/stack.js';
import { until } from '../harness/until.js';
import { startReceiver, type Receiver } from './receiver.js';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const secrets = [`whsec_${Buffer.alloc(32, 5).toString('base64')}`];
const ordered = { actor: 'ada' };

let bench: Stack;
let caller: Receiver;
beforeEach(async () => {
  const callbacks = createCallbackSender({ secrets: () => secrets, allowLoopback: true });
  bench = await openStack({ time: 'skipping', deps: { callbacks } });
  caller = await startReceiver();
});
afterEach(async () => {
  await bench.close();
  await caller.close();
});

/** The changes of one flow, by their number. */
const changed = (number: number, more: Partial<FlowChange> = {}): FlowChange => ({
  timestamp: new Date(Date.UTC(2026, 0, 1) + number).toISOString(),
  kind: 'crypto-send',
  reference: 'r-1',
  flowId: 'crypto-send/r-1',
  state: 'running',
  stage: `stage-${number}`,
  serviceReference: null,
  outcome: null,
  parked: null,
  ...more,
});
const last = (number: number) =>
  changed(number, { state: 'completed', stage: 'done', outcome: { state: 'completed', reason: null } });
const short = ({ timestamp, state, stage }: FlowChange) => ({ timestamp, state, stage });
const notification: Notification = { id: 'msg_again', change: changed(1), skipped: [short(changed(0))] };

async function deliver(changes: readonly FlowChange[], more: Partial<CallbackOrder> = {}) {
  const flowId = `crypto-send/${newReference('delivered')}`;
  const order: CallbackOrder = { flowId, url: `${caller.url}/hook`, timeScale: 1, changes, ...more };
  const delivery = await begin(order, flowId);
  const report = () => delivery.query<CallbackReport>('callbacks');
  const isSo = (state: CallbackReport['state']) =>
    until(`it to be ${state}`, async () => (await report()).state === state && report());
  const attribute = async () => (await delivery.describe()).searchAttributes['TowlineState'];
  const status = async () => (await delivery.describe()).status.name;
  return { flowId, order, delivery, report, isSo, attribute, status };
}

const begin = (order: unknown, flowId: string) =>
  bench.client.workflow.start(CALLBACK_WORKFLOW, {
    taskQueue: bench.taskQueue,
    workflowId: callbackIdOf(flowId),
    args: [order],
  });

const received = () => caller.received.map(({ body, headers }) => ({ id: headers['webhook-id'], ...body.data }));
const stages = () => received().map(({ stage }) => stage);
const matters = async () => (await bench.store.matters.due(100)).matters;

describe('the delivery of callbacks', () => {
  it('sends the newest change alone, names those that it replaces, and ends when the flow is over', async () => {
    const { delivery, report, order, flowId } = await deliver([changed(1), changed(2), last(3)]);
    const result = await delivery.result();
    const { timestamp: _, ...flow } = last(3);
    const skipped = [short(changed(1)), short(changed(2))];
    const sent = { id: expect.stringMatching(/^msg_[\da-f-]{36}$/), change: last(3), skipped };
    const delivered = { notification: sent, httpStatus: 204, attempts: 1, at: expect.any(String) };
    expect(result).toEqual({ delivered });
    expect(received()).toEqual([{ id: sent.id, ...flow, skipped }]);
    const again = { flowId, url: order.url, timeScale: 1, changes: [], again: sent };
    const state = { state: 'delivered', since: null, current: null, failure: null };
    expect(await report()).toEqual({ ...state, delivered, order: again });
  });

  it('names no more than the latest of many skipped changes', async () => {
    const many = Array.from({ length: MAX_SKIPPED + 10 }, (_, number) => changed(number));
    const { delivery } = await deliver([...many, last(99)]);
    await delivery.result();
    expect(received()[0].skipped).toEqual(many.slice(-MAX_SKIPPED).map(short));
  });

  it('waits an hour for the next change, sends that by itself, and ends when none comes', async () => {
    const { delivery, isSo, status } = await deliver([changed(1)]);
    await isSo('delivered');
    await bench.pass(59 * MINUTE_MS);
    expect(await status()).toBe('RUNNING');
    await delivery.signal(CHANGES_SIGNAL, [changed(2)]);
    await caller.until((all) => all.length === 2);
    await isSo('delivered');
    expect(received()[1]).toMatchObject({ stage: 'stage-2', skipped: [] });
    await bench.pass(59 * MINUTE_MS);
    expect(await status()).toBe('RUNNING');
    await bench.pass(2 * MINUTE_MS);
    expect(await status()).toBe('COMPLETED');
    expect(stages()).toEqual(['stage-1', 'stage-2']);
  });

  it('has nothing to send without a change, not even at an order, and waits as long', async () => {
    const { delivery, report, status, flowId, order } = await deliver([], { timeScale: 0.1 });
    await delivery.signal(RESEND_SIGNAL, ordered);
    const nothing = { flowId, url: order.url, timeScale: 0.1, changes: [] };
    expect(await report()).toEqual({
      state: 'delivered',
      since: null,
      current: null,
      failure: null,
      delivered: null,
      order: nothing,
    });
    await bench.pass(5 * MINUTE_MS);
    expect(await status()).toBe('RUNNING');
    await bench.pass(2 * MINUTE_MS);
    expect(await delivery.result()).toEqual({ delivered: null });
    expect(received()).toEqual([]);
  });

  it('sends the same callback again at an order, once', async () => {
    const { delivery, isSo } = await deliver([changed(1)]);
    await isSo('delivered');
    await delivery.signal(RESEND_SIGNAL, ordered);
    await caller.until((all) => all.length === 2);
    await delivery.signal(CHANGES_SIGNAL, [last(2)]);
    await delivery.result();
    expect(stages()).toEqual(['stage-1', 'stage-1', 'done']);
    expect(received()[1].id).toBe(received()[0].id);
    expect(received()[2]).toMatchObject({ skipped: [] });
    expect(received()[2].id).not.toBe(received()[0].id);
  });

  it('begins with the callback that a person orders again, under its own id', async () => {
    const { delivery } = await deliver([], { again: { ...notification, change: last(1) } });
    await delivery.result();
    expect(received()).toEqual([expect.objectContaining({ id: 'msg_again', stage: 'done', skipped: notification.skipped })]); // prettier-ignore
  });

  it('gives up an older callback for a newer change, which names it and what it would have named', async () => {
    caller.answer = ({ body }) => (body.data.outcome === null ? 503 : 204);
    const { delivery, isSo } = await deliver([], { again: notification });
    await caller.until((all) => all.length > 0);
    const { current, since, delivered } = await isSo('sending');
    expect({ current, delivered }).toEqual({ current: notification, delivered: null });
    expect(since).not.toBeNull();
    await delivery.signal(CHANGES_SIGNAL, [changed(2), last(3)]);
    await delivery.result();
    expect(received().at(-1).skipped).toEqual([0, 1, 2].map((number) => short(changed(number))));
    expect(await matters()).toEqual([]);
  });

  it('stops for a cancel in the UI, which counts as no failure of the receiver', async () => {
    caller.answer = () => 503;
    const { delivery, status, attribute } = await deliver([changed(1)]);
    await caller.until((all) => all.length > 0);
    await delivery.cancel();
    await until('it to be cancelled', async () => (await status()) === 'CANCELLED');
    expect([await attribute(), await matters()]).toEqual([undefined, []]);
  });
});

describe('a callback that was given up', () => {
  async function givenUp(changes = [changed(1)]) {
    caller.answer = () => 410;
    const started = await deliver(changes);
    await started.isSo('undelivered');
    await until('it to be listed', async () => (await matters()).length === 1);
    return started;
  }
  const isResolved = () => until('it to be resolved', async () => (await matters())[0]?.resolvedAtMs !== undefined);

  it('is listed, with its failure and since when', async () => {
    const { report, attribute, flowId } = await givenUp();
    const { failure, since, current, delivered } = await report();
    const problem = 'The receiver answered 410.';
    expect(failure).toEqual({ problem, httpStatus: 410, attempt: 1, at: expect.any(String), circuit: null });
    expect(since).toMatch(/^\d{4}-.*Z$/);
    expect({ current, delivered }).toMatchObject({ current: { change: changed(1) }, delivered: null });
    expect(await attribute()).toEqual([UNDELIVERED]);
    expect(await matters()).toMatchObject([{ content: { kind: 'callback_undelivered', flowId } }]);
  });

  it('is tried again at an order, and is then listed no more', async () => {
    const { delivery, report, attribute, isSo } = await givenUp();
    caller.answer = () => 503;
    await delivery.signal(RESEND_SIGNAL, ordered);
    await isResolved();
    await caller.until((all) => all.length === 2);
    expect(await isSo('sending')).toMatchObject({ failure: null, current: { change: changed(1) } });
    expect(await attribute()).toBeUndefined();
    caller.answer = () => 204;
    await bench.pass(MINUTE_MS);
    await isSo('delivered');
    expect(await report()).toMatchObject({ since: null, current: null, failure: null });
    expect(new Set(received().map(({ id }) => id)).size).toBe(1);
  });

  it('is replaced by a newer change, which names it', async () => {
    const { delivery } = await givenUp();
    caller.answer = () => 204;
    await delivery.signal(CHANGES_SIGNAL, [last(2)]);
    await delivery.result();
    expect(received().at(-1)).toMatchObject({ stage: 'done', skipped: [short(changed(1))] });
    await isResolved();
  });

  it('can be sent again for ninety days, even if it was the last one; then its delivery fails', async () => {
    const { delivery, status } = await givenUp([last(1)]);
    await bench.pass(89 * DAY_MS);
    expect(await status()).toBe('RUNNING');
    await expect(delivery.result()).rejects.toMatchObject({
      cause: { type: 'undelivered' },
    });
  });
});

describe('a message to the delivery of callbacks that is not from us', () => {
  const foreign = { [PLAINTEXT]: [changed(2)] };
  const broken = { [UNDECODABLE]: 'it is broken' };

  it('is dropped', async () => {
    const { delivery, isSo } = await deliver([changed(1)]);
    await isSo('delivered');
    for (const message of [foreign, broken, null, 'x']) await delivery.signal(CHANGES_SIGNAL, message);
    for (const message of [foreign, broken]) await delivery.signal(RESEND_SIGNAL, message);
    await delivery.signal(CHANGES_SIGNAL, [last(3)]);
    await delivery.result();
    expect(stages()).toEqual(['stage-1', 'done']);
    expect(received()[1].skipped).toEqual([]);
  });

  it.each([
    ['in the clear', { [PLAINTEXT]: { flowId: 'crypto-send/r-1' } }],
    ['broken', broken],
  ])('starts none if it came %s', async (_how, input) => {
    const delivery = await begin(input, newReference('foreign'));
    await expect(delivery.result()).rejects.toMatchObject({ cause: { type: 'plaintext_input' } });
  });

  it('waits for a worker that has its key, if that is unknown here', async () => {
    const delivery = await begin({ [UNDECODABLE]: `${UNKNOWN_KEY} next-year` }, newReference('sealed'));
    await expect(delivery.query('callbacks')).rejects.toThrow(/next-year/);
  });
});

describe('a delivery of callbacks that grows long', () => {
  const junk = async (delivery: { signal(name: string, ...args: unknown[]): Promise<unknown> }, count: number) => {
    for (let number = 0; number < count; number += 1) await delivery.signal(number % 2 ? CHANGES_SIGNAL : RESEND_SIGNAL, { [PLAINTEXT]: 0 }); // prettier-ignore
  };

  it('continues in a new run when there is something to send, with what was delivered and what came', async () => {
    const { delivery, isSo } = await deliver([changed(1)]);
    await isSo('delivered');
    const latest = bench.client.workflow.getHandle(delivery.workflowId);
    const runId = async () => (await latest.describe()).runId;
    const first = await runId();
    await junk(latest, MAX_SIGNALS_PER_RUN - 2);
    await latest.signal(RESEND_SIGNAL, ordered);
    await caller.until((all) => all.length === 2);
    expect(await runId()).toBe(first);
    await isSo('delivered');
    await latest.signal(RESEND_SIGNAL, ordered);
    await caller.until((all) => all.length === 3);
    const second = await runId();
    expect(second).not.toBe(first);
    await isSo('delivered');
    await junk(latest, MAX_SIGNALS_PER_RUN - 1);
    await latest.signal(CHANGES_SIGNAL, [last(2)]);
    await latest.result();
    expect(await runId()).not.toBe(second);
    expect(stages()).toEqual(['stage-1', 'stage-1', 'stage-1', 'done']);
    expect(new Set(received().map(({ id }) => id)).size).toBe(2);
    expect(received()[3].skipped).toEqual([]);
  });

  it('knows in its new run what was given up', async () => {
    caller.answer = () => 410;
    const { delivery, isSo, attribute } = await deliver([changed(1)]);
    await isSo('undelivered');
    const latest = bench.client.workflow.getHandle(delivery.workflowId);
    await junk(latest, MAX_SIGNALS_PER_RUN - 1);
    caller.answer = () => 204;
    await latest.signal(CHANGES_SIGNAL, [last(2)]);
    await latest.result();
    expect(received().at(-1).skipped).toEqual([short(changed(1))]);
    expect([await attribute(), (await matters())[0]?.resolvedAtMs]).toEqual([undefined, expect.any(Number)]);
  });
});
