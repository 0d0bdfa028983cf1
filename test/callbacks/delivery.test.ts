import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type proto from '@temporalio/proto';
import { Worker } from '@temporalio/worker';
import { Webhook } from 'standardwebhooks';
import { createCallbackSender, secretsOfName } from '../../src/callbacks/index.js';
import { activityDeps } from '../../src/cli/wiring/dependencies.js';
import { followSecrets, readSettings } from '../../src/config/index.js';
import { createWorkMetrics } from '../../src/gateway/index.js';
import { createCallbackHandles } from '../../src/temporal/callback-handle.js';
import { callbackIdOf } from '../../src/protocol/vocabulary.js';
import { until as soon } from '../harness/until.js';
import { startReceiver, type Received, type Receiver } from './receiver.js';
import { newReference } from '../harness/references.js';
import { openStack, type Stack } from '../harness/stack.js';
import { transferInput, trusted } from '../harness/inputs.js';
import { untilFlow } from '../harness/reports.js';
import type { CallbackReport } from '../../src/protocol/callbacks.js';

const SECRET = `whsec_${Buffer.alloc(32, 5).toString('base64')}`;
const OLD_SECRET = `whsec_${Buffer.alloc(32, 6).toString('base64')}`;
const callbacks = createCallbackSender({ secrets: () => [SECRET, OLD_SECRET], allowLoopback: true });

let bench: Stack;
let caller: Receiver;
const workerLog: string[] = [];
beforeAll(async () => {
  const note = (detail: object, message: string) => void workerLog.push(`${message} ${JSON.stringify(detail)}`);
  bench = await openStack({ time: 'real', deps: { callbacks, log: { info: note, warn: note, error: note } } });
});
afterAll(() => bench.close());
beforeEach(async () => {
  caller = await startReceiver();
});
afterEach(() => caller.close());

const start = (reference: string, more: Record<string, unknown> = {}) =>
  bench.start(transferInput(reference, { callbackUrl: `${caller.url}/hook?key=canary-capability`, ...more }));
const reportOf = (reference: string) =>
  bench.client.workflow.getHandle(callbackIdOf(`bridge-transfer/${reference}`)).query<CallbackReport>('callbacks');
type History = proto.temporal.api.history.v1.IHistory;
const seen = (holds: () => Promise<boolean>) => soon('it to be so', holds, 30_000);
const isOver = ({ body }: Received) => body.data.outcome !== null;
const timestampsOf = (received: readonly Received[]) => received.map(({ body }) => String(body.timestamp));

describe('callbacks to callers', () => {
  it('report every stage in order, signed by Standard Webhooks with the first secret', async () => {
    const reference = newReference('told');
    const handle = await start(reference);
    await untilFlow(handle, ({ view }) => view.stage === 'tracking' || view.stage === 'settlement');
    await handle.signal('events', [trusted('COMPLETED')]);
    await handle.result();
    const received = await caller.until((all) => all.some(isOver));

    for (const { text, headers } of received) {
      const signed = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
      expect(new Webhook(SECRET).verify(text, signed)).toEqual(JSON.parse(text));
      expect(() => new Webhook(OLD_SECRET).verify(text, signed)).toThrow();
    }
    expect(timestampsOf(received)).toEqual(timestampsOf(received).toSorted());
    expect(new Set(received.map(({ headers }) => headers['webhook-id'])).size).toBe(received.length);
    expect(received.at(-1)?.body).toEqual({
      type: 'flow.updated',
      timestamp: expect.any(String),
      data: {
        kind: 'bridge-transfer',
        reference,
        flowId: `bridge-transfer/${reference}`,
        state: 'completed',
        stage: 'done',
        serviceReference: expect.any(String),
        outcome: { state: 'completed', reason: null },
        parked: null,
        skipped: expect.any(Array),
      },
    });
    const stages = received.flatMap(({ body }) => [...body.data.skipped, body.data]).map(({ stage }) => String(stage));
    expect(stages.at(-1)).toBe('done');
    expect(new Set(stages).size).toBe(stages.length);
  });

  it('say nothing that is not for the caller: no name, no number, no evidence, no capability', async () => {
    const reference = newReference('quiet');
    const handle = await start(reference);
    await untilFlow(handle, ({ view }) => view.serviceReference !== null);
    await handle.signal('events', [trusted('COMPLETED', { facts: { settlementAmount: '98765.4321' } })]);
    await untilFlow(handle, ({ view }) => view.state === 'parked');
    await caller.until((all) => all.some(({ body }) => body.data.parked !== null));
    const told = caller.received.map(({ text }) => text).join('\n');
    expect(caller.received.at(-1)?.body.data.parked).toEqual({
      reason: 'event_mismatch',
      since: expect.any(String),
      actions: ['accept-event', 'dismiss-event'],
    });
    for (const word of ['Canary', '+2782', 'customer-1', 'canary-capability', 'evidence', '98765', 'callbacks/'])
      expect(told).not.toContain(word);
    await handle.terminate();
  });

  it('never pass on anything unproven', async () => {
    const reference = newReference('forged');
    const handle = await start(reference);
    await untilFlow(handle, ({ view }) => view.serviceReference !== null);
    await caller.until((all) => all.at(-1)?.body.data.stage !== 'preparing' && all.length > 0);
    const forged = { trusted: false, proof: null, source: 'settlement' as const };
    await handle.signal('events', [trusted('COMPLETED', forged)]);
    await untilFlow(handle, ({ events }) => Object.values(events).includes('unverified'));
    const before = (await untilFlow(handle, () => true)).view;
    await handle.signal('events', [trusted('COMPLETED')]);
    await handle.result();
    await caller.until((all) => all.some(isOver));
    // There is nothing between the state before the forgery and the end.
    const stages = caller.received.flatMap(({ body }) => [...body.data.skipped, body.data]);
    expect(stages.slice(-2).map(({ state, stage }) => [state, stage])).toEqual([
      ['running', before.stage],
      ['completed', 'done'],
    ]);
  });

  it('are signed with the secret that is derived from what its file holds at that moment, without a restart of the worker', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'towline-secrets-'));
    const path = join(folder, 'callbacks');
    const put = async (text: string) => {
      await writeFile(`${path}.draft`, text, { mode: 0o400 });
      await rename(`${path}.draft`, path);
    };
    await put(OLD_SECRET);
    const settings = readSettings({ CALLBACK_SECRETS_FILE: path });
    let nowMs = 0;
    const onBroken = (problem: string): never => {
      throw new Error(problem);
    };
    const secrets = followSecrets(settings, { onBroken, monotonicMs: () => nowMs });
    const { store, service, deps } = bench;
    const { log } = deps;
    const ofWorker = activityDeps({ settings, store, service, secrets, log, metrics: createWorkMetrics() }).callbacks;
    const signedWith = async () => {
      await ofWorker?.send({ url: caller.url, owner: 'shop', id: 'msg_1', body: '{}' });
      const { text, headers } = caller.received.at(-1) as Received;
      const at = new Date(Number(headers['webhook-timestamp']) * 1_000);
      return [OLD_SECRET, SECRET].filter(
        (one) =>
          new Webhook(secretsOfName('shop', [one])[0] ?? '').sign('msg_1', at, text) === headers['webhook-signature'],
      );
    };
    expect(await signedWith()).toEqual([OLD_SECRET]);
    await put(`${SECRET}\n${OLD_SECRET}`);
    nowMs += 200;
    expect(await signedWith()).toEqual([SECRET]);
    await rm(folder, { recursive: true });
  });

  it('to a receiver that does not answer are listed by its origin, with the number of flows that wait', async () => {
    caller.answer = () => 'cut';
    const origin = caller.url;
    const handle = await bench.start(
      transferInput(newReference('nowhere'), { callbackUrl: `${origin}/hook`, timeScale: 0.01 }),
    );
    const handles = createCallbackHandles(bench.client);
    const listed = () => handles.openCircuits().then((all) => all.find((one) => one.origin === origin) ?? false);
    expect(await soon('its circuit to open', listed)).toEqual({ origin, since: expect.any(String), flows: 1 });
    await handle.terminate();
  });

  it('come as one when the caller was unavailable: the newest state, and what it skips', async () => {
    caller.answer = () => 503;
    const reference = newReference('away');
    const handle = await start(reference);
    await untilFlow(handle, ({ view }) => view.serviceReference !== null);
    await handle.signal('events', [trusted('COMPLETED')]);
    await handle.result();
    await caller.until((all) => all.some(isOver));
    const refused = [...caller.received];
    caller.answer = () => 204;
    const delivered = (await caller.until((all) => all.length > refused.length)).at(-1) as Received;
    await bench.client.workflow.getHandle(callbackIdOf(`bridge-transfer/${reference}`)).result();

    const last = refused.at(-1) as Received;
    // The same change again: the same id and the same bytes; only the time and with it the signature are new.
    expect(delivered.headers['webhook-id']).toBe(last.headers['webhook-id']);
    expect(delivered.text).toBe(last.text);
    const skipped = delivered.body.data.skipped as { timestamp: string; stage: string; state: string }[];
    expect(skipped.length).toBeGreaterThanOrEqual(2);
    expect(skipped.every(({ state }) => state === 'running')).toBe(true);
    expect(skipped.map(({ timestamp }) => timestamp)).toEqual(skipped.map(({ timestamp }) => timestamp).toSorted());
    expect(await reportOf(reference)).toMatchObject({
      state: 'delivered',
      current: null,
      delivered: { httpStatus: 204, notification: { id: last.headers['webhook-id'] } },
    });
  });

  it('are sent again at a person’s order, at once and under the same id', async () => {
    caller.answer = () => 500;
    const reference = newReference('again');
    const handle = await start(reference);
    await untilFlow(handle, ({ view }) => view.serviceReference !== null);
    await handle.signal('events', [trusted('COMPLETED')]);
    await handle.result();
    await caller.until((all) => all.some(isOver));
    const before = caller.received.length;
    caller.answer = () => 204;
    const delivery = bench.client.workflow.getHandle(callbackIdOf(`bridge-transfer/${reference}`));
    await delivery.signal('resend', { actor: 'ada' });
    await delivery.result();
    const ids = caller.received.slice(before - 1).map(({ headers }) => headers['webhook-id']);
    expect(new Set(ids).size).toBe(1);
  });

  it('never overlap: a newer change waits for the answer to the one before, however slow', async () => {
    let underWay = 0;
    let most = 0;
    let answerFirst = () => {};
    const first = new Promise<void>((done) => (answerFirst = done));
    caller.answer = () => {
      underWay += 1;
      most = Math.max(most, underWay);
      return { status: 204, after: first, sent: () => (underWay -= 1) };
    };
    const reference = newReference('slow');
    const handle = await start(reference);
    await untilFlow(handle, ({ view }) => view.serviceReference !== null);
    await caller.until((all) => all.length > 0);
    await handle.signal('events', [trusted('COMPLETED')]);
    await handle.result();
    const delivery = bench.client.workflow.getHandle(callbackIdOf(`bridge-transfer/${reference}`));
    // It knows of the newer change, and gives up the sending of the one that is unanswered.
    await seen(async () =>
      ((await delivery.fetchHistory()).events ?? []).some((event) => event.activityTaskCancelRequestedEventAttributes),
    );
    expect(caller.received).toHaveLength(1);
    answerFirst();
    const received = await caller.until((all) => all.some(isOver));
    expect(received.length).toBeGreaterThanOrEqual(2);
    expect(most).toBe(1);
    expect(timestampsOf(received)).toEqual(timestampsOf(received).toSorted());
    await delivery.result();
  });

  it('end at once when the receiver answers that the address is gone', async () => {
    caller.answer = () => 410;
    const reference = newReference('gone');
    const handle = await start(reference, { approval: 'required' });
    await untilFlow(handle, ({ view }) => view.stage === 'awaiting-approval');
    await caller.until((all) => all.some(({ body }) => body.data.stage === 'awaiting-approval'));
    await seen(async () => (await reportOf(reference)).state === 'undelivered');
    expect(await reportOf(reference)).toMatchObject({ failure: { httpStatus: 410, attempt: 1 } });
    expect(
      workerLog.filter((line) => line.includes('could not be delivered') && line.includes(reference)),
    ).toHaveLength(1);
    await handle.terminate();
  });

  it('continue in a new run when they grow long, with nothing lost and nothing reported twice', async () => {
    caller.answer = () => 503;
    const reference = newReference('long');
    const handle = await start(reference, { approval: 'required' });
    await untilFlow(handle, ({ view }) => view.stage === 'awaiting-approval');
    await caller.until((all) => all.some(({ body }) => body.data.stage === 'awaiting-approval'));
    const delivery = bench.client.workflow.getHandle(callbackIdOf(handle.workflowId));
    const { runId } = await delivery.describe();
    for (let n = 0; n < 200; n += 1) await delivery.signal('resend', { actor: 'ada' });
    await seen(async () => (await delivery.describe()).runId !== runId);
    caller.answer = () => 204;
    await delivery.signal('resend', { actor: 'ada' });
    await seen(async () => (await reportOf(reference)).state === 'delivered');
    expect(new Set(caller.received.map(({ headers }) => headers['webhook-id'])).size).toBeLessThanOrEqual(2);
    await handle.executeUpdate('cancel', { args: [{ actor: 'ada' }] });
    expect((await caller.until((all) => all.some(isOver))).at(-1)?.body.data.state).toBe('cancelled');
    await delivery.result();
  });

  it('leave histories that replay, and the URL in none of them, nor in a log', async () => {
    const references = ['replayed', 'replayed-away'].map(newReference);
    const histories: { workflowId: string; history: History }[] = [];
    for (const reference of references) {
      caller.answer = ({ body }) => (reference.startsWith('replayed-away') && body.data.outcome === null ? 503 : 204);
      const handle = await start(reference);
      await untilFlow(handle, ({ view }) => view.serviceReference !== null);
      await handle.signal('events', [trusted('COMPLETED')]);
      await handle.result();
      const delivery = bench.client.workflow.getHandle(callbackIdOf(handle.workflowId));
      await delivery.result();
      for (const { workflowId } of [handle, delivery]) {
        const history = await bench.client.workflow.getHandle(workflowId).fetchHistory();
        histories.push({ workflowId, history });
        const { memo, searchAttributes } = await bench.client.workflow.getHandle(workflowId).describe();
        expect(JSON.stringify([history, memo, searchAttributes])).not.toMatch(/canary-capability|127\.0\.0\.1:/);
      }
    }
    const options = { workflowBundle: { codePath: process.env['TEST_WORKFLOW_BUNDLE'] ?? '' }, dataConverter: bench.dataConverter }; // prettier-ignore
    for await (const { error } of Worker.runReplayHistories(options, histories)) expect(error).toBeUndefined();
    const log = workerLog.join('\n');
    expect(log).toContain(`"origin":"${caller.url}"`);
    expect(log).not.toContain('canary-capability');
  });

  it.each([
    ['says when to come back', 429],
    ['leads elsewhere, which is no delivery', 302],
  ])('go on from a caller who %s', async (_, status) => {
    let turns = 0;
    caller.answer = () => {
      turns += 1;
      return turns === 1 ? { status, headers: { 'retry-after': '1', location: '/elsewhere' } } : 204;
    };
    const reference = newReference('later');
    const handle = await start(reference, { approval: 'required' });
    await untilFlow(handle, ({ view }) => view.stage !== 'preparing');
    const [first, second] = await caller.until((all) => all.length >= 2);
    expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
    await handle.terminate();
  });

  it('are no flow’s trouble: without a URL nothing runs beside it, and one that is refused ends before any money', async () => {
    const without = newReference('without');
    const handle = await bench.start(transferInput(without));
    await untilFlow(handle, ({ view }) => view.serviceReference !== null);
    await handle.signal('events', [trusted('COMPLETED')]);
    await handle.result();
    const { events } = await handle.fetchHistory();
    const sorts = (events ?? []).map((event) => Object.keys(event).find((name) => name.endsWith('EventAttributes')));
    expect(sorts.filter((sort) => /child|external/i.test(sort ?? ''))).toEqual([]);

    const refused = newReference('refused');
    const bad = await start(refused, { callbackUrl: 'https://10.0.0.1/hook' });
    await expect(bad.result()).rejects.toMatchObject({ cause: { type: 'invalid_input' } });
    expect(await bench.executions('createBridgeDeposit', refused)).toBe(0);
  });
});
