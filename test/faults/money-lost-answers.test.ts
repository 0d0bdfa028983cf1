import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { FlowReport } from '../../src/flows/messages.js';
import { newReference, openBench, transferInput, trusted, until, type Bench } from '../workflows/bench.js';
import { inTurns } from './in-turns.js';

/** The settle window is (2 s + 60 s) × this. */
const TIME_SCALE = 0.01;

type Fault = Record<string, unknown> & { kind: string };

describe('an answer that is lost after the service executed', () => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await openBench({ time: 'real', sandbox: { stepMs: 3_600_000 } });
  });
  afterAll(() => bench.close());

  /** Starts n flows under a fault of the deposit, and gives them the events of a transfer that was paid. */
  const runUnderFault = async (fault: Fault, n: number, repeatMode = 'same-result') => {
    await bench.control('DELETE', '/faults');
    await bench.control('POST', '/settings', { repeatMode });
    await bench.control('POST', '/faults', { operation: 'createBridgeDeposit', rate: 1, ...fault });
    const references = Array.from({ length: n }, () => newReference(fault.kind));
    const ends = await inTurns(references, 16, async (reference) => {
      const handle = await bench.start(transferInput(reference, { timeScale: TIME_SCALE }));
      const { view } = await until(handle, (report) => report.view.stage === 'outcome-unknown');
      expect(view.state).not.toBe('failed');
      const facts = { serviceReference: `k-${reference}` };
      await handle.signal('events', [trusted('DEPOSIT_CONFIRMED', { facts }), trusted('COMPLETED', { facts })]);
      const { view: end } = (await handle.result()) as FlowReport;
      return { state: end.state, executions: await bench.executions('createBridgeDeposit', reference) };
    });
    return {
      completed: ends.filter((end) => end.state === 'completed').length,
      mostExecutions: Math.max(...ends.map((end) => end.executions)),
      leastExecutions: Math.min(...ends.map((end) => end.executions)),
    };
  };
  const allOnce = (n: number) => ({ completed: n, mostExecutions: 1, leastExecutions: 1 });

  test('fault 1: lost answers, n = 200: all complete by trusted events, each executed once', async () => {
    expect(await runUnderFault({ kind: 'answer-lost' }, 200)).toEqual(allOnce(200));
  }, 120_000);

  test('fault 5: 5xx after the commit, n = 50: unknown and not failed, each executed once', async () => {
    expect(await runUnderFault({ kind: 'error-after', status: 503 }, 50)).toEqual(allOnce(50));
  }, 60_000);

  test.each(['html', 'truncated', 'wrong-shape', 'no-reason', 'empty', 'not-an-object'])(
    'fault 6: a 2xx that cannot be read (%s), n = 10: unknown, each executed once',
    async (variant) => {
      expect(await runUnderFault({ kind: 'garbage', variant }, 10)).toEqual(allOnce(10));
    },
    60_000,
  );

  test.each(['same-result', 'conflict', 'rejected', 'execute-again'])(
    'fault 8: a service that answers a repeat with "%s", n = 20: executed once, never repeated without proof',
    async (repeatMode) => {
      expect(await runUnderFault({ kind: 'answer-lost' }, 20, repeatMode)).toEqual(allOnce(20));
    },
    60_000,
  );

  test('parks as unknown_outcome after the settle window, and a late trusted event still completes it', async () => {
    await bench.control('DELETE', '/faults');
    await bench.control('POST', '/faults', { operation: 'createBridgeDeposit', kind: 'answer-lost', rate: 1 });
    const reference = newReference('late');
    const handle = await bench.start(transferInput(reference, { timeScale: TIME_SCALE }));
    const { view } = await until(handle, (report) => report.view.state === 'parked');
    expect(view.parked).toMatchObject({
      reason: 'unknown_outcome',
      actions: ['send-again', 'close-not-executed', 'mark-completed', 'mark-refunded'],
    });
    await handle.signal('events', [trusted('COMPLETED')]);
    expect(((await handle.result()) as FlowReport).view.state).toBe('completed');
    expect(await bench.executions('createBridgeDeposit', reference)).toBe(1);
  });

  test('what was never executed is sent again by a person alone, with the order on its claim: one execution', async () => {
    await bench.control('DELETE', '/faults');
    await bench.control('POST', '/faults', { operation: 'createBridgeDeposit', kind: 'reset-before', first: 1 });
    const reference = newReference('again');
    const handle = await bench.start(transferInput(reference, { timeScale: TIME_SCALE }));
    await until(handle, (report) => report.view.state === 'parked');
    expect(await bench.executions('createBridgeDeposit', reference)).toBe(0);
    await handle.executeUpdate('resolve', {
      args: [{ action: 'send-again', note: 'the service has no such deposit', actor: 'ada' }],
    });
    await until(handle, (report) => report.view.stage === 'tracking');
    expect(await bench.executions('createBridgeDeposit', reference)).toBe(1);
    const key = { account: bench.deps.account, operation: 'createBridgeDeposit', reference };
    expect(await bench.store.claims.orders(key)).toMatchObject([
      { actor: 'ada', note: 'the service has no such deposit' },
    ]);
    await handle.signal('events', [trusted('COMPLETED')]);
    await handle.result();
  });

  test('what was never executed is closed by a person: failed as not_executed, claim void, no execution', async () => {
    await bench.control('DELETE', '/faults');
    await bench.control('POST', '/faults', { operation: 'createBridgeDeposit', kind: 'reset-before', first: 1 });
    const reference = newReference('close');
    const handle = await bench.start(transferInput(reference, { timeScale: TIME_SCALE }));
    await until(handle, (report) => report.view.state === 'parked');
    await handle.executeUpdate('resolve', { args: [{ action: 'close-not-executed', note: 'checked', actor: 'ada' }] });
    const { view } = await until(handle, (report) => report.view.outcome !== null);
    expect(view.outcome).toMatchObject({ state: 'failed', reason: 'not_executed' });
    expect((await bench.store.claims.ofFlow(handle.workflowId)).map((claim) => claim.phase)).toEqual(['void']);
    expect(await bench.executions('createBridgeDeposit', reference)).toBe(0);
  });
});

describe('where the settings say how the service treats a repeat', () => {
  test.each([
    ['same-result', 'same-result'],
    ['rejected', 'conflict'],
    ['rejected', 'rejected'],
  ] as const)(
    'DUPLICATE_REFERENCE=%s (sandbox: %s): a lost answer is asked for again by the flow itself, one execution',
    async (setting, repeatMode) => {
      const bench = await openBench({
        time: 'real',
        sandbox: { stepMs: 3_600_000, repeatMode },
        deps: { repeatSettingOf: () => setting },
      });
      await bench.control('POST', '/faults', { operation: 'createBridgeDeposit', kind: 'answer-lost', first: 1 });
      const reference = newReference('repeat');
      const handle = await bench.start(transferInput(reference, { timeScale: TIME_SCALE }));
      await until(handle, ({ view }) =>
        setting === 'same-result'
          ? view.stage === 'tracking'
          : view.timeline.some((entry) => entry.detail.includes('knows this reference')),
      );
      await handle.signal('events', [trusted('COMPLETED')]);
      expect(((await handle.result()) as FlowReport).view.state).toBe('completed');
      expect(await bench.executions('createBridgeDeposit', reference)).toBe(1);
      await bench.close();
    },
    60_000,
  );
});
