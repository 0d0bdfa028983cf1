import { afterEach, describe, expect, it } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import { PLAINTEXT, UNDECODABLE, UNKNOWN_KEY } from '../../src/protocol/plaintext-marker.js';
import { defaultDeadlineSeconds, workflowTypeOf } from '../../src/protocol/vocabulary.js';
import { MAX_SIGNALS_PER_RUN } from '../../workflows/engine/policies.js';
import { trusted } from '../harness/inputs.js';
import { newReference } from '../harness/references.js';
import { entriesOf, noted, reportOf, untilFlow } from '../harness/reports.js';
import { openStack, type Stack, type StackOptions } from '../harness/stack.js';
import { until } from '../harness/until.js';

const HOUR_MS = 3_600_000;

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});
async function open(more: StackOptions = {}): Promise<Stack> {
  const bench = await openStack({ time: 'skipping', sandbox: { stepMs: HOUR_MS }, ...more });
  closing.push(() => bench.close());
  return bench;
}
/** A flow that nothing decides. */
async function watch(bench: Stack, more: object = {}) {
  const kycId = newReference('pending');
  return bench.startFlow('kyc-check', kycId, { kycId, ...more });
}
const tracking = (handle: WorkflowHandle) => untilFlow(handle, ({ view }) => view.stage === 'tracking');
/** The words of these tests are none that a KYC check knows. */
const taken = (handle: WorkflowHandle, word: string) => noted(handle, 'status-unknown', word);
const dropped = async (handle: WorkflowHandle) => entriesOf((await reportOf(handle)).view, 'plaintext-dropped');

describe('what a flow shows of itself', () => {
  it('is when it changed last, at the query and in the Temporal UI', async () => {
    const bench = await open();
    const handle = await watch(bench);
    const { view: first } = await tracking(handle);
    await bench.pass(HOUR_MS);
    await handle.signal('events', [trusted('ODD')]);
    const { view, events } = await taken(handle, 'ODD');
    const last = view.timeline.at(-1);
    expect(view.updatedAt).toBe(last?.at);
    expect(view.startedAt).toBe(first.startedAt);
    expect(Date.parse(view.updatedAt) - Date.parse(view.startedAt)).toBeGreaterThanOrEqual(HOUR_MS);
    expect(last).toMatchObject({ stage: 'tracking', by: 'service' });
    expect(Object.values(events)).toEqual(['applied']);
    const metadata = await handle.query<{ currentDetails?: string }>('__temporal_workflow_metadata');
    expect(metadata.currentDetails).not.toContain('ODD');
    expect(metadata.currentDetails).toContain(view.reference);
  });

  it('has the whole id as its reference if that is none of its kind', async () => {
    const bench = await open();
    const options = { taskQueue: bench.taskQueue, workflowId: newReference('alone'), args: [{}] };
    const handle = await bench.client.workflow.start(workflowTypeOf('kyc-check'), options);
    await handle.result().catch(() => undefined);
    expect((await reportOf(handle)).view).toMatchObject({ reference: options.workflowId, flowId: options.workflowId });
  });

  it('is its end, once it has ended: nothing that it waits for', async () => {
    const bench = await open();
    const handle = await watch(bench);
    await tracking(handle);
    await handle.executeUpdate('cancel', { args: [{ actor: 'ada' }] });
    await handle.result().catch(() => undefined);
    const { view } = await reportOf(handle);
    expect(view).toMatchObject({ state: 'cancelled', stage: 'done', parked: null });
    expect(view.timeline.at(-1)).toMatchObject({
      stage: 'done',
      by: 'flow',
      code: 'ended',
      detail: view.outcome?.detail,
    });
  });
});

describe('the deadline of a flow', () => {
  const DEFAULT_MS = defaultDeadlineSeconds('kyc-check') * 1_000;
  const lifeMs = async (handle: WorkflowHandle) => {
    const { view } = await reportOf(handle);
    return Date.parse(view.deadlineAt ?? '') - Date.parse(view.startedAt);
  };

  it.each([
    ['by default', {}, DEFAULT_MS],
    ['by its input', { deadlineSeconds: 90 }, 90_000],
    ['at most thirty days', { deadlineSeconds: 2_592_000 }, 2_592_000_000],
    ['scaled', { deadlineSeconds: 90, timeScale: 0.1 }, 9_000],
    ['not scaled', { deadlineSeconds: 90, timeScale: 1 }, 90_000],
    ['by default, if its input is more than that', { deadlineSeconds: 2_592_001 }, DEFAULT_MS],
    ['by default, if its input is nothing', { deadlineSeconds: 0 }, DEFAULT_MS],
    ['by default, if its input is no number', { deadlineSeconds: '90' }, DEFAULT_MS],
    ['not scaled to nothing', { deadlineSeconds: 90, timeScale: 0 }, 90_000],
    ['never scaled to more', { deadlineSeconds: 90, timeScale: 2 }, 90_000],
    ['by its input in the clear', { [PLAINTEXT]: { deadlineSeconds: 90 } }, 90_000],
  ])('is given %s', async (_how, more, ms) => {
    const bench = await open();
    expect(await lifeMs(await watch(bench, more))).toBe(ms);
  });

  it('is extended by one more of the same, or until a given time, and asks a person again then', async () => {
    const bench = await open();
    const handle = await watch(bench, { deadlineSeconds: 1_000, timeScale: 0.5 });
    const parked = () => untilFlow(handle, ({ view }) => view.state === 'parked');
    await bench.pass(600_000);
    const { view } = await parked();
    const waits = { action: 'keep-waiting', note: 'it is expected', actor: 'ada' };
    await handle.executeUpdate('resolve', { args: [waits] });
    const { view: on } = await untilFlow(handle, (report) => report.view.state === 'running');
    const extended = Date.parse(on.deadlineAt ?? '') - Date.parse(view.parked?.since ?? '');
    expect(extended).toBeGreaterThanOrEqual(500_000);
    expect(extended).toBeLessThan(800_000);
    await bench.pass(600_000);
    const { view: again } = await parked();
    expect(Date.parse(again.parked?.since ?? '')).toBeGreaterThanOrEqual(Date.parse(on.deadlineAt ?? ''));
    const to = new Date(Date.parse(again.parked?.since ?? '') + 24 * HOUR_MS).toISOString();
    await handle.executeUpdate('resolve', { args: [{ ...waits, until: to }] });
    const { view: later } = await untilFlow(handle, (report) => report.view.state === 'running');
    expect(later.deadlineAt).toBe(to);
    await bench.pass(20 * HOUR_MS);
    expect((await reportOf(handle)).view.state).toBe('running');
    await bench.pass(5 * HOUR_MS);
    await parked();
  });
});

describe('an order that comes to a flow in the clear', () => {
  const cancelInClear = async (allowPlaintext: boolean) => {
    const bench = await open({ deps: { allowPlaintext } });
    const handle = await watch(bench);
    await tracking(handle);
    const order = handle.executeUpdate('cancel', { args: [{ [PLAINTEXT]: { actor: 'ada' } }] });
    return { handle, order };
  };

  it('is taken by a flow that may take it', async () => {
    const { handle, order } = await cancelInClear(true);
    expect(await order).toEqual({ cancelled: true });
    await handle.result().catch(() => undefined);
    expect((await reportOf(handle)).view.outcome).toMatchObject({ state: 'cancelled' });
  });

  it('is refused by any other', async () => {
    const { handle, order } = await cancelInClear(false);
    await expect(order).rejects.toMatchObject({ cause: { type: 'unencrypted' } });
    expect((await reportOf(handle)).view.state).toBe('running');
  });
});

describe('an event that comes to a flow in the clear', () => {
  const inClear = (word: string) => ({ [PLAINTEXT]: [trusted(word)] });
  /** Events that come before the flow knows whether it may take them. */
  async function early(allowPlaintext: boolean) {
    const bench = await open({ worker: false, deps: { allowPlaintext } });
    const handle = await watch(bench);
    await handle.signal('events', inClear('EARLY'));
    await bench.worker();
    await tracking(handle);
    return handle;
  }

  it('waits until the flow knows that it may take it', async () => {
    const handle = await early(true);
    await taken(handle, 'EARLY');
    await handle.signal('events', inClear('LATER'));
    await taken(handle, 'LATER');
    expect(await dropped(handle)).toEqual([]);
  });

  it('is dropped if it may not, also in a further run; what is encrypted is taken', async () => {
    const handle = await early(false);
    await noted(handle, 'plaintext-dropped');
    await handle.signal('events', inClear('LATER'));
    await handle.signal('events', [trusted('SEALED')]);
    await taken(handle, 'SEALED');
    const { runId } = await handle.describe();
    for (let count = 0; count < MAX_SIGNALS_PER_RUN; count += 1) await handle.signal('events', []);
    await until('the next run', async () => (await handle.describe()).runId !== runId);
    await handle.signal('events', inClear('LAST'));
    await noted(handle, 'plaintext-dropped', '', 3);
    expect(await dropped(handle)).toHaveLength(3);
    expect(Object.values((await reportOf(handle)).events)).toEqual(['applied']);
  });

  it('is taken by a further run if the first one might', async () => {
    const bench = await open({ deps: { allowPlaintext: true } });
    const handle = await watch(bench);
    const { view } = await tracking(handle);
    const { runId } = await handle.describe();
    for (let count = 0; count < MAX_SIGNALS_PER_RUN; count += 1) await handle.signal('events', []);
    await until('the next run', async () => (await handle.describe()).runId !== runId);
    await handle.signal('events', inClear('LAST'));
    const { view: next } = await taken(handle, 'LAST');
    const { startedAt, deadlineAt, stage } = view;
    expect(next).toMatchObject({ startedAt, deadlineAt, stage });
    expect(next.timeline.slice(0, view.timeline.length)).toEqual(view.timeline);
  });
});

it('an event whose key is unknown here waits for a worker that has it', async () => {
  const bench = await open();
  const handle = await watch(bench);
  await tracking(handle);
  await handle.signal('events', { [UNDECODABLE]: `${UNKNOWN_KEY} next-year` });
  await expect(handle.query('flow')).rejects.toThrow(/next-year/);
});
