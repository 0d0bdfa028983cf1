import { describe, expect, it } from '@jest/globals';
import { propagation } from '@opentelemetry/api';
import { MockActivityEnvironment } from '@temporalio/testing';
import type { ApplicationFailure } from '@temporalio/common';
import { createCallbackActivities, createUndeliveredActivities } from '../../activities/deliver-callback.js';
import type { ActivityDeps } from '../../activities/index.js';
import { CallbackRefusedError, CallbackUnreachableError, type CallbackSender } from '../../src/callbacks/index.js';
import type { CallbackFailure, Notification } from '../../src/protocol/callbacks.js';
import type { Store } from '../../src/store/store.js';
import { depsOver } from '../store/deciding-activities.js';
import { withTemporaryStore } from '../store/temporary-store.js';

const silent = { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error() {} };
const HOUR_MS = 3_600_000;
const TRIED_FOR_MS = 72 * HOUR_MS;
const SKIPPED = [{ timestamp: '2026-01-01T00:00:00.000Z', state: 'running', stage: 'preparing' }] as const;
const NOTIFICATION = {
  id: 'msg_1',
  change: { timestamp: '2026-01-01T00:00:01.000Z', flowId: 'f/1', state: 'completed' },
  skipped: SKIPPED,
} as unknown as Notification;

/** A worker with this sender, what it logs and counts, and the gauges that it sets. */
function worker(callbacks: Partial<CallbackSender> | undefined) {
  const [counted, logged, gauges]: [unknown[], object[], unknown[]] = [[], [], []];
  const log = { info: (detail: object) => void logged.push(detail), warn() {}, error() {} };
  const metrics = { count: (name: string, labels: object) => void counted.push([name, labels]) };
  const sender = callbacks === undefined ? {} : { callbacks: { problemOf: () => undefined, ...callbacks } };
  const store = { audit: { ownersOf: () => Promise.resolve(new Map([['f/1', { name: 'shop', seq: 1 }]])) } };
  const deps = { ...sender, store, log, metrics, monotonicMs: () => 0 } as unknown as ActivityDeps;
  const activities = createCallbackActivities(deps);
  const metricMeter = {
    createGauge: (name: string, type: string) => ({ set: (value: number) => void gauges.push([name, type, value]) }),
  };
  const deliver = (more: { attempt?: number; afterMs?: number; timeScale?: number; url?: string } = {}) => {
    const { attempt = 1, afterMs = 0, timeScale = 1, url = 'https://shop.example/hook?key=canary' } = more;
    const startedMs = Date.UTC(2026, 0, 1);
    const info = {
      attempt,
      scheduledTimestampMs: startedMs,
      currentAttemptScheduledTimestampMs: startedMs + afterMs,
    };
    const target = { flowId: 'f/1', url, timeScale, notification: NOTIFICATION, triedForMs: TRIED_FOR_MS };
    return new MockActivityEnvironment(info, { logger: silent, metricMeter: metricMeter as never }).run(() =>
      activities.deliverCallback(target),
    );
  };
  const fails = async (more: Parameters<typeof deliver>[0] = {}) => {
    const failure = (await deliver(more).catch((error: unknown) => error)) as ApplicationFailure;
    const [detail] = (failure.details ?? []) as CallbackFailure[];
    return { ...detail, type: failure.type, isFinal: failure.nonRetryable, delayMs: failure.nextRetryDelay };
  };
  return { deliver, fails, counted, logged, gauges };
}
const answering = (httpStatus: number, retryAfter?: string) => ({
  send: () => Promise.resolve({ httpStatus, retryAfter }),
});
const failing = (thrown: unknown) => ({
  send: async () => {
    throw thrown;
  },
});
const count = (result: string) => ['towline_callbacks_total', { result }];

describe('the delivery of a callback', () => {
  it('is one attempt with its id, and the same body each time: the change, and what was skipped for it', async () => {
    const sent: Parameters<CallbackSender['send']>[0][] = [];
    const send: CallbackSender['send'] = async (callback) => {
      sent.push(callback);
      return { httpStatus: 204, retryAfter: undefined };
    };
    const { deliver, counted, logged } = worker({ send });
    expect(await deliver({ attempt: 3 })).toEqual({
      at: expect.stringMatching(/^\d{4}-.*Z$/),
      httpStatus: 204,
      attempts: 3,
    });
    await deliver();
    const [first, second] = sent;
    expect(first).toMatchObject({ url: 'https://shop.example/hook?key=canary', id: 'msg_1' });
    expect(second?.body).toBe(first?.body);
    expect(JSON.parse(first?.body ?? '')).toEqual({
      type: 'flow.updated',
      timestamp: '2026-01-01T00:00:01.000Z',
      data: { flowId: 'f/1', state: 'completed', skipped: SKIPPED },
    });
    expect(counted).toEqual([count('delivered'), count('delivered')]);
    // A log may show the origin, and no more of the URL.
    expect(logged[0]).toEqual({ flowId: 'f/1', origin: 'https://shop.example', callback: 'msg_1', attempt: 3 });
  });

  it.each([
    [true, 200],
    [true, 299],
    [false, 199],
    [false, 301],
    [false, 304],
    [false, 400],
  ])('has delivered it: %s, if the receiver answers %d', async (isDelivered, httpStatus) => {
    const { deliver, fails } = worker(answering(httpStatus));
    if (isDelivered) expect(await deliver()).toMatchObject({ httpStatus });
    else expect(await fails()).toMatchObject({ type: 'callback_not_delivered', httpStatus, isFinal: false });
  });

  it('carries our trace, so that its receiver can continue it', async () => {
    propagation.setGlobalPropagator({
      inject: (_, carrier, setter) => setter.set(carrier, 'traceparent', '00-1'),
      extract: (context) => context,
      fields: () => ['traceparent'],
    });
    try {
      const sent: unknown[] = [];
      const send: CallbackSender['send'] = async ({ headers }) => {
        sent.push(headers);
        return { httpStatus: 204, retryAfter: undefined };
      };
      await worker({ send }).deliver();
      expect(sent).toEqual([{ traceparent: '00-1' }]);
    } finally {
      propagation.disable();
    }
  });

  it('that is refused is tried again by the policy, or as the receiver asks, in the time scale of its flow', async () => {
    const refused = worker(answering(503));
    expect(await refused.fails({ attempt: 2 })).toEqual({
      type: 'callback_not_delivered',
      problem: expect.stringContaining('503'),
      httpStatus: 503,
      attempt: 2,
      at: expect.stringMatching(/^\d{4}-.*Z$/),
      circuit: null,
      isFinal: false,
      delayMs: undefined,
    });
    expect(refused.counted).toEqual([count('refused')]);
    const asks = worker(answering(503, '60'));
    expect((await asks.fails()).delayMs).toBe(60_000);
    expect((await asks.fails({ timeScale: 0.01 })).delayMs).toBe(600);
    expect((await asks.fails({ timeScale: 1e-9 })).delayMs).toBe(1);
  });

  it.each([
    ['is refused', answering(500)],
    ['cannot be sent', failing(new CallbackUnreachableError('The receiver cannot be reached (ECONNRESET).'))],
  ])('is tried for three days if it %s, and then given up', async (_, sender) => {
    expect((await worker(sender).fails({ afterMs: TRIED_FOR_MS - 1 })).isFinal).toBe(false);
    expect((await worker(sender).fails({ afterMs: TRIED_FOR_MS })).isFinal).toBe(true);
  });

  it('is given up at once if the address is gone, or its URL is ruled out; not if its name leads elsewhere today', async () => {
    expect((await worker(answering(410)).fails()).isFinal).toBe(true);
    const refused = new CallbackRefusedError('The host leads to an address that is not public.');
    expect((await worker(failing(refused)).fails()).isFinal).toBe(false);
    const ruledOut = { problemOf: () => 'must begin with https' };
    expect((await worker({ ...failing(refused), ...ruledOut }).fails()).isFinal).toBe(true);
    const away = new CallbackUnreachableError('The receiver cannot be reached (ECONNRESET).');
    expect((await worker({ ...failing(away), ...ruledOut }).fails()).isFinal).toBe(false);
  });

  it.each([
    ['of a refusal', new CallbackRefusedError('Of ours.'), 'Of ours.'],
    ['of a receiver that cannot be reached', new CallbackUnreachableError('Of ours, too (X).'), 'Of ours, too (X).'],
    [
      'of another error, its name',
      new RangeError('https://shop.example/hook?key=canary'),
      'The callback failed (RangeError).',
    ],
    ['of what is no error, nothing', 'canary', 'The callback failed (unknown).'],
  ])('shows only what is ours: %s', async (_, error, problem) => {
    const made = worker(failing(error));
    expect(await made.fails()).toMatchObject({ problem, httpStatus: null, circuit: null, isFinal: false });
    expect(made.counted).toEqual([count('failed')]);
  });

  it('waits, and is not sent unsigned, at a worker without a secret', async () => {
    const { fails, counted } = worker(undefined);
    expect(await fails()).toMatchObject({
      problem: expect.stringContaining('CALLBACK_SECRETS'),
      isFinal: false,
      delayMs: undefined,
    });
    expect(counted).toEqual([count('failed')]);
  });

  it('to what is no URL is one to a receiver of its own', async () => {
    const { deliver, logged } = worker(answering(204));
    await deliver({ url: 'nonsense' });
    expect(logged[0]).toMatchObject({ origin: '(no URL)' });
  });

  it('is held back while the circuit of its origin is open, ever longer up to an hour, and at last given up', async () => {
    const { fails, counted, gauges } = worker(failing(new CallbackUnreachableError('no answer')));
    for (let missed = 0; missed < 3; missed += 1) await fails();
    expect(gauges).toEqual([['towline_callback_circuits_open', 'int', 1]]);
    const circuit = { origin: 'https://shop.example', since: expect.stringMatching(/^\d{4}-.*Z$/) };
    expect(await fails({ attempt: 1 })).toMatchObject({ circuit, isFinal: false, delayMs: 15_000, httpStatus: null });
    const delays = [2, 5, 9, 10].map(async (attempt) => (await fails({ attempt })).delayMs);
    expect(await Promise.all(delays)).toEqual([30_000, 240_000, 3_600_000, 3_600_000]);
    expect((await fails({ timeScale: 0.1 })).delayMs).toBe(1_500);
    expect((await fails({ afterMs: TRIED_FOR_MS })).isFinal).toBe(true);
    expect(counted).toEqual([...Array(3).fill(count('failed')), ...Array(7).fill(count('held_back'))]);
  });
});

describe('a callback that could not be delivered', () => {
  let store: Store;
  withTemporaryStore((opened) => (store = opened));

  it('is a matter for people, until it is tried again', async () => {
    const activities = createUndeliveredActivities(depsOver(store));
    const open = async () =>
      (await store.matters.due(100)).matters.map(({ content, resolvedAtMs }) => [content, resolvedAtMs === undefined]);
    const content = { kind: 'callback_undelivered', flowId: 'f/1', since: expect.stringMatching(/^\d{4}-.*Z$/) };
    await activities.noteUndelivered({ flowId: 'f/1', problem: 'The receiver answered 503.' });
    expect(await open()).toEqual([[content, true]]);
    await activities.noteTriedAgain({ flowId: 'f/1' });
    expect(await open()).not.toContainEqual([content, true]);
    await activities.noteUndelivered({ flowId: 'f/1', problem: 'The receiver answered 503.' });
    expect(await open()).toEqual([[content, true]]);
  });
});
