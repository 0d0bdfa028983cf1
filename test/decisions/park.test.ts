import type { WorkflowHandle } from '@temporalio/client';
import type { ApplicationFailure } from '@temporalio/common';
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { PLAINTEXT } from '../../src/protocol/plaintext-marker.js';
import { workflowTypeOf } from '../../src/protocol/vocabulary.js';
import { StoreUnavailableError } from '../../src/store/store-errors.js';
import { trusted } from '../harness/inputs.js';
import { newReference } from '../harness/references.js';
import { untilFlow } from '../harness/reports.js';
import { openStack, type Stack } from '../harness/stack.js';
import { until } from '../harness/until.js';
import { ended, gate, noted, parked, resolve } from './bench.js';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

let bench: Stack;
beforeAll(async () => {
  bench = await openStack({ time: 'skipping', sandbox: { stepMs: 365 * DAY_MS } });
});
afterEach(() => void jest.restoreAllMocks());
afterEach(() => bench.terminateAll());
afterAll(() => bench.close());

/** A flow that nothing decides, and that moves no money itself. */
async function watch(more: object = {}, memo: Record<string, unknown> = {}) {
  const kycId = newReference('pending');
  const workflowId = `kyc-check/${kycId}`;
  const options = { taskQueue: bench.taskQueue, workflowId, memo, args: [{ kycId, deadlineSeconds: 600, ...more }] };
  return bench.client.workflow.start(workflowTypeOf('kyc-check'), options);
}
async function overdue(memo: Record<string, unknown> = {}) {
  const handle = await watch({}, memo);
  await bench.pass(11 * MINUTE_MS);
  return { handle, view: await parked(handle) };
}
const ORDER = { action: 'mark-failed', note: 'looked into it', actor: 'ada' };
const refusalOf = (handle: WorkflowHandle, order: unknown, update = 'resolve') =>
  handle.executeUpdate(update, { args: [order] as [unknown] }).then(
    () => null,
    ({ cause }: { cause?: ApplicationFailure }) => cause?.type,
  );
const matterOf = async (handle: WorkflowHandle) =>
  (await bench.store.matters.due(1_000)).matters.find(({ content }) => content.flowId === handle.workflowId);

describe('an order to resolve a flow', () => {
  test('is refused at once if it does not fit what the flow asks', async () => {
    const { handle, view } = await overdue();
    const { since, actions } = view.parked ?? {};
    expect(actions).toEqual(['keep-waiting', 'mark-completed', 'mark-failed']);
    const refusals = [
      [{ ...ORDER, since: '2026-01-01T00:00:00.000Z' }, 'flow_moved_on'],
      [{ ...ORDER, action: 'send-again' }, 'unknown_action'],
      [{ action: 'mark-failed', actor: 'ada' }, 'no_note'],
      [{ ...ORDER, note: 7 }, 'no_note'],
      [{ ...ORDER, note: ' ' }, 'no_note'],
      [{ action: 'mark-failed', note: 'looked into it' }, 'no_actor'],
      [null, 'no_actor'],
      [{ ...ORDER, until: '2099-01-01T00:00:00Z' }, 'invalid_input'],
    ] as const;
    for (const [order, type] of refusals) expect(await refusalOf(handle, order)).toBe(type);
    expect((await parked(handle)).parked).toEqual(view.parked);
    expect(await refusalOf(handle, { ...ORDER, since })).toBeNull();
    expect((await ended(handle)).outcome).toMatchObject({ state: 'failed', reason: 'closed_by_person' });
  });

  test('is refused while the flow asks nothing', async () => {
    const handle = await watch();
    await untilFlow(handle, ({ view }) => view.stage === 'tracking');
    expect(await refusalOf(handle, ORDER)).toBe('not_parked');
    await handle.terminate();
  });

  test('is refused while another one is being carried out', async () => {
    const { handle } = await overdue();
    const { claims } = bench.store;
    const closeByOrder = claims.closeByOrder.bind(claims);
    const mayClose = gate();
    const closing = jest.spyOn(claims, 'closeByOrder').mockImplementation(async (...order) => {
      await mayClose.opened;
      return closeByOrder(...order);
    });
    const first = resolve(handle, 'mark-failed');
    await until('the first order to close the claims', () => closing.mock.calls.length > 0);
    expect(await refusalOf(handle, { ...ORDER, action: 'mark-completed' })).toBe('other_order_under_way');
    mayClose.open();
    expect(await first).toEqual({ accepted: true });
    expect(await ended(handle)).toMatchObject({ state: 'failed' });
  });

  test('or to cancel it is refused if it came unencrypted, or names no actor', async () => {
    const { handle } = await overdue();
    for (const update of ['resolve', 'cancel']) {
      expect(await refusalOf(handle, { [PLAINTEXT]: ORDER, ...ORDER }, update)).toBe('unencrypted');
      expect(await refusalOf(handle, {}, update)).toBe('no_actor');
    }
    expect((await parked(handle)).parked?.reason).toBe('no_decision');
    await handle.terminate();
  });
});

describe('a final order that the store is asked to close the claims for', () => {
  test('reminds of the flow once a day, as long as the store does not close them', async () => {
    const { handle } = await overdue();
    const { claims, matters } = bench.store;
    await until('its matter', async () => (await matterOf(handle)) !== undefined);
    const away = new StoreUnavailableError('AWAY', 'database');
    const closing = jest.spyOn(claims, 'closeByOrder').mockRejectedValue(away);
    const ordered = resolve(handle, 'mark-failed');
    await until('the claims to be closed', () => closing.mock.calls.length > 0);
    const opened = jest.spyOn(matters, 'open');
    await bench.pass(2 * DAY_MS + MINUTE_MS);
    await until('its reminders', () => opened.mock.calls.length === 2);
    expect(opened.mock.calls.map(([, content]) => content)).toMatchObject(
      [1, 2].map(() => ({ flowId: handle.workflowId, reason: 'no_decision' })),
    );
    closing.mockRestore();
    await bench.pass(2 * MINUTE_MS);
    expect(await ordered).toEqual({ accepted: true });
  });

  test('lets the events that came meanwhile through again, if they are not closed', async () => {
    const { handle } = await overdue();
    const event = trusted('IN_REVIEW');
    jest.spyOn(bench.store.claims, 'closeByOrder').mockImplementationOnce(async () => {
      await handle.signal('events', [event]);
      return { kind: 'under-way', claims: [] };
    });
    await expect(resolve(handle, 'mark-failed')).rejects.toMatchObject({
      cause: { type: 'post_under_way' },
    });
    const { events } = await untilFlow(handle, (report) => Object.keys(report.events).length === 1);
    expect(events).toEqual({ [event.id]: 'applied' });
    await noted(handle, 'status-unknown', 'IN_REVIEW');
    await handle.terminate();
  });
});

test.each([
  [
    { amount: '12.5', currency: 'KES' },
    { amount: '12.5', currency: 'KES' },
  ],
  [{ amount: '12.5' }, {}],
  [{ currency: 'KES' }, {}],
  [{ amount: 12.5, currency: 'KES' }, {}],
  [{ amount: '12.5', currency: 7 }, {}],
  [{}, {}],
] as const)(
  'people are notified of a parked flow with its money only if its memo %j has all of it',
  async (memo, money) => {
    const { handle, view } = await overdue(memo);
    await until('its matter', async () => (await matterOf(handle)) !== undefined);
    const { since, reason, actions } = view.parked ?? {};
    const flowId = handle.workflowId;
    expect((await matterOf(handle))?.content).toEqual({ kind: 'parked', flowId, since, reason, actions, ...money });
    await handle.terminate();
  },
);
