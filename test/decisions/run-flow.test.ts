import { ApplicationFailure, type WorkflowHandle } from '@temporalio/client';
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { MAX_SIGNALS_PER_RUN, MAX_UPDATES_PER_RUN } from '../../workflows/engine/policies.js';
import { newReference } from '../harness/references.js';
import { reportOf, untilFlow } from '../harness/reports.js';
import { openStack, type Stack } from '../harness/stack.js';
import { until } from '../harness/until.js';
import { gate, parked, resolve } from './bench.js';

const MINUTE_MS = 60_000;

let bench: Stack;
beforeAll(async () => {
  bench = await openStack({ time: 'skipping', sandbox: { stepMs: 24 * 60 * MINUTE_MS } });
});
afterEach(() => void jest.restoreAllMocks());
afterEach(() => bench.terminateAll());
afterAll(() => bench.close());

/** A flow that gives no answer, and that nothing decides. */
async function watch(more: object = {}) {
  const kycId = newReference('pending');
  return { kycId, handle: await bench.startFlow('kyc-check', kycId, { kycId, ...more }) };
}
const tracking = (handle: WorkflowHandle) => untilFlow(handle, ({ view }) => view.stage === 'tracking');
const waitsFor = (handle: WorkflowHandle) => handle.startUpdate<unknown, []>('answer', { waitForStage: 'ACCEPTED' });
const runOf = async (handle: WorkflowHandle) => (await handle.describe()).runId;

describe('a caller that waits for an answer that never comes gets', () => {
  test('the reason why the flow ended', async () => {
    const { handle } = await watch();
    await tracking(handle);
    const waiting = await waitsFor(handle);
    await handle.executeUpdate('cancel', { args: [{ actor: 'ada' }] });
    expect(await waiting.result()).toEqual({ kind: 'none', reason: 'cancelled_before_sending' });
  });

  test('how the flow ended, if that has no reason', async () => {
    const { kycId, handle } = await watch();
    await tracking(handle);
    const waiting = await waitsFor(handle);
    await bench.move(kycId, 'APPROVED', 'getKycStatus');
    await handle.result();
    expect(await waiting.result()).toEqual({ kind: 'none', reason: 'completed' });
  });

  test('why the flow is parked', async () => {
    const { handle } = await watch({ deadlineSeconds: 600 });
    await tracking(handle);
    const waiting = await waitsFor(handle);
    await bench.pass(11 * MINUTE_MS);
    expect(await waiting.result()).toEqual({ kind: 'none', reason: 'no_decision' });
    await handle.terminate();
  });
});

describe('a flow goes on in a further run', () => {
  test('only once people have been notified that it waits for them no more', async () => {
    const { handle } = await watch({ deadlineSeconds: 600 });
    await bench.pass(11 * MINUTE_MS);
    await parked(handle);
    const { matters } = bench.store;
    const write = matters.resolve.bind(matters);
    const mayWrite = gate();
    const writing = jest.spyOn(matters, 'resolve').mockImplementation(async (...matter) => {
      await mayWrite.opened;
      return write(...matter);
    });
    await resolve(handle, 'keep-waiting');
    await until('the notice', () => writing.mock.calls.length > 0);
    const before = await runOf(handle);
    for (let count = 0; count < MAX_SIGNALS_PER_RUN; count += 1) await handle.signal('events', []);
    expect((await reportOf(handle)).view.state).toBe('running');
    expect(await runOf(handle)).toBe(before);
    mayWrite.open();
    await until('the next run', async () => (await runOf(handle)) !== before);
    await handle.terminate();
  });

  test('after as many updates as one run takes, all of which are answered', async () => {
    const { handle } = await watch();
    await tracking(handle);
    const before = await runOf(handle);
    const answers = await Promise.all(
      Array.from({ length: MAX_UPDATES_PER_RUN }, () => handle.executeUpdate<unknown, []>('answer')),
    );
    expect(new Set(answers.map((answer) => JSON.stringify(answer)))).toEqual(
      new Set([JSON.stringify({ kind: 'none', reason: 'tracking' })]),
    );
    await until('the next run', async () => (await runOf(handle)) !== before);
    await handle.terminate();
  });
});

test('a failure that is none of our endings ends no flow: it waits for the version that can go on', async () => {
  // Its time stands still once a workflow task fails.
  const own = await openStack({ time: 'skipping' });
  const odd = ApplicationFailure.nonRetryable('broken', 'SomethingNew');
  jest.spyOn(own.store.deployment, 'read').mockRejectedValue(odd);
  const kycId = newReference('odd');
  const result = async () => (await own.startFlow('kyc-check', kycId, { kycId })).result();
  await expect(result()).rejects.toThrow(/a workflow task/);
  await own.close();
});
