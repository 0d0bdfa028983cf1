import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { FlowReport } from '../../src/protocol/messages.js';
import type { Repeat } from '../../src/protocol/decisions.js';
import { depositsUnder, ERROR_AFTER, LOST, PAID_ONCE, REPEAT_MODES, TIME_SCALE, UNREADABLE } from './lost-answers.js';
import { newReference } from '../harness/references.js';
import { openStack, type Stack } from '../harness/stack.js';
import { transferInput, trusted } from '../harness/inputs.js';
import { untilFlow } from '../harness/reports.js';

describe('an answer that is lost after the service executed', () => {
  let bench: Stack;
  /** `DUPLICATE_REFERENCE`. */
  const settings: { repeat: Repeat } = { repeat: 'unknown' };
  beforeAll(async () => {
    bench = await openStack({
      time: 'skipping',
      sandbox: { stepMs: 3_600_000 },
      deps: { repeatSettingOf: () => settings.repeat },
    });
  });
  afterAll(() => bench.close());

  test('fault 1: completes by trusted events, executed once', async () => {
    expect(await depositsUnder(bench, LOST, 1)).toEqual([PAID_ONCE]);
  });

  test('fault 5: 5xx after the commit: unknown and not failed, executed once', async () => {
    expect(await depositsUnder(bench, ERROR_AFTER, 1)).toEqual([PAID_ONCE]);
  });

  test.each(UNREADABLE)('fault 6: a 2xx that cannot be read ($variant): unknown, executed once', async (fault) => {
    expect(await depositsUnder(bench, fault, 1)).toEqual([PAID_ONCE]);
  });

  test.each(REPEAT_MODES)(
    'fault 8: a service that answers a repeat with "%s": executed once, never repeated without proof',
    async (repeatMode) => {
      expect(await depositsUnder(bench, LOST, 1, repeatMode)).toEqual([PAID_ONCE]);
    },
  );

  test('parks as unknown_outcome after the settle window, and a late trusted event still completes it', async () => {
    await bench.control('DELETE', '/faults');
    await bench.control('POST', '/faults', { operation: 'createBridgeDeposit', kind: 'answer-lost', rate: 1 });
    const reference = newReference('late');
    const handle = await bench.start(transferInput(reference, { timeScale: TIME_SCALE }));
    const { view } = await untilFlow(handle, (report) => report.view.state === 'parked');
    expect(view.parked).toMatchObject({
      reason: 'unknown_outcome',
      actions: ['send-again', 'close-not-executed', 'mark-completed', 'mark-refunded'],
    });
    await handle.signal('events', [trusted('COMPLETED')]);
    expect(((await handle.result()) as FlowReport).view.state).toBe('completed');
    expect(await bench.executions('createBridgeDeposit', reference)).toBe(1);
  });

  test('what was never executed is sent again only by a person, with the order on its claim: one execution', async () => {
    await bench.control('DELETE', '/faults');
    await bench.control('POST', '/faults', { operation: 'createBridgeDeposit', kind: 'reset-before', first: 1 });
    const reference = newReference('again');
    const handle = await bench.start(transferInput(reference, { timeScale: TIME_SCALE }));
    await untilFlow(handle, (report) => report.view.state === 'parked');
    expect(await bench.executions('createBridgeDeposit', reference)).toBe(0);
    await handle.executeUpdate('resolve', {
      args: [{ action: 'send-again', note: 'the service has no such deposit', actor: 'ada' }],
    });
    await untilFlow(handle, (report) => report.view.stage === 'tracking');
    expect(await bench.executions('createBridgeDeposit', reference)).toBe(1);
    const key = { account: bench.deps.account, operation: 'createBridgeDeposit', reference };
    expect(await bench.store.claims.orders(key)).toMatchObject([
      { actor: 'ada (unproven)', note: 'the service has no such deposit' },
    ]);
    await handle.signal('events', [trusted('COMPLETED')]);
    await handle.result();
  });

  test('what was never executed is closed by a person: failed as not_executed, claim void, no execution', async () => {
    await bench.control('DELETE', '/faults');
    await bench.control('POST', '/faults', { operation: 'createBridgeDeposit', kind: 'reset-before', first: 1 });
    const reference = newReference('close');
    const handle = await bench.start(transferInput(reference, { timeScale: TIME_SCALE }));
    await untilFlow(handle, (report) => report.view.state === 'parked');
    await handle.executeUpdate('resolve', { args: [{ action: 'close-not-executed', note: 'checked', actor: 'ada' }] });
    const { view } = await untilFlow(handle, (report) => report.view.outcome !== null);
    expect(view.outcome).toMatchObject({ state: 'failed', reason: 'not_executed' });
    expect((await bench.store.claims.ofFlow(handle.workflowId)).map((claim) => claim.phase)).toEqual(['void']);
    expect(await bench.executions('createBridgeDeposit', reference)).toBe(0);
  });

  test.each([
    ['same-result', 'same-result'],
    ['rejected', 'conflict'],
    ['rejected', 'rejected'],
  ] as const)(
    'DUPLICATE_REFERENCE=%s (sandbox: %s): a lost answer is asked for again by the flow itself, one execution',
    async (setting, repeatMode) => {
      settings.repeat = setting;
      await bench.control('DELETE', '/faults');
      await bench.control('POST', '/settings', { repeatMode });
      await bench.control('POST', '/faults', { operation: 'createBridgeDeposit', kind: 'answer-lost', first: 1 });
      const reference = newReference('repeat');
      const handle = await bench.start(transferInput(reference, { timeScale: TIME_SCALE }));
      await untilFlow(handle, ({ view }) =>
        setting === 'same-result'
          ? view.stage === 'tracking'
          : view.timeline.some((entry) => entry.detail.includes('knows this reference')),
      );
      await handle.signal('events', [trusted('COMPLETED')]);
      expect(((await handle.result()) as FlowReport).view.state).toBe('completed');
      expect(await bench.executions('createBridgeDeposit', reference)).toBe(1);
      settings.repeat = 'unknown';
    },
  );
});
