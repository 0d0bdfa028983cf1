import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { FlowReport } from '../../src/api/flow.js';
import type { Repeat } from '../../src/protocol/decisions.js';
import { depositsUnder, ERROR_AFTER, LOST, PAID_ONCE, REPEAT_MODES, TIME_SCALE, UNREADABLE } from './lost-answers.js';
import { newReference } from '../harness/references.js';
import { openStack, type Stack } from '../harness/stack.js';
import { transferInput, trusted } from '../harness/inputs.js';
import { untilFlow } from '../harness/reports.js';

describe('a deposit whose answer is lost after the service executed it', () => {
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
  afterEach(() => bench.terminateAll());
  afterAll(() => bench.close());

  test('completes by trusted events, executed once (fault 1)', async () => {
    expect(await depositsUnder(bench, LOST, 1)).toEqual([PAID_ONCE]);
  });

  test('is unknown, not failed, after a 5xx that came after the commit, and executed once (fault 5)', async () => {
    expect(await depositsUnder(bench, ERROR_AFTER, 1)).toEqual([PAID_ONCE]);
  });

  test.each(UNREADABLE)(
    'is unknown after a 2xx that cannot be read ($variant), and executed once (fault 6)',
    async (fault) => {
      expect(await depositsUnder(bench, fault, 1)).toEqual([PAID_ONCE]);
    },
  );

  test.each(REPEAT_MODES)(
    'is executed once, and not repeated without proof, at a service that answers a repeat with "%s" (fault 8)',
    async (repeatMode) => {
      expect(await depositsUnder(bench, LOST, 1, repeatMode)).toEqual([PAID_ONCE]);
    },
  );

  test('parks as unknown_outcome after the settle window, and completes by a late trusted event', async () => {
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

  test('is sent again only by a person if it was never executed, with the order on its claim, and executed once', async () => {
    await bench.control('DELETE', '/faults');
    await bench.control('POST', '/faults', { operation: 'createBridgeDeposit', kind: 'reset-before', first: 1 });
    const reference = newReference('again');
    const handle = await bench.start(transferInput(reference, { timeScale: TIME_SCALE }));
    await untilFlow(handle, (report) => report.view.state === 'parked');
    expect(await bench.executions('createBridgeDeposit', reference)).toBe(0);
    await handle.executeUpdate('resolve', {
      args: [{ action: 'send-again', note: 'not there', actor: 'ada' }],
    });
    await untilFlow(handle, (report) => report.view.stage === 'tracking');
    expect(await bench.executions('createBridgeDeposit', reference)).toBe(1);
    const key = { account: bench.deps.account, operation: 'createBridgeDeposit', reference };
    expect(await bench.store.claims.orders(key)).toMatchObject([{ action: 'send-again', note: 'not there' }]);
    await handle.signal('events', [trusted('COMPLETED')]);
    await handle.result();
  });

  test('fails as not_executed, with a void claim, if it was never executed and a person closes it', async () => {
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
    'is sent again by the flow itself with DUPLICATE_REFERENCE=%s, and executed once, at a service that answers %s',
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
          : view.timeline.filter(({ code }) => code === 'outcome-unknown').length === 2,
      );
      await handle.signal('events', [trusted('COMPLETED')]);
      expect(((await handle.result()) as FlowReport).view.state).toBe('completed');
      expect(await bench.executions('createBridgeDeposit', reference)).toBe(1);
      settings.repeat = 'unknown';
    },
  );
});
