import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { FlowReport } from '../../src/api/flow.js';
import { transferInput, trusted } from '../harness/inputs.js';
import { newReference } from '../harness/references.js';
import { noted, untilFlow } from '../harness/reports.js';
import { type Stack, openStack } from '../harness/stack.js';

/** Longer than the wait for a refund (15 minutes). */
const REFUND_OVERDUE_MS = 16 * 60_000;

const FAILED = () => trusted('FAILED', { facts: { refundAnnounced: 'true', failureStage: 'SETTLEMENT' } });

describe('after a failure without a refund', () => {
  let bench: Stack;
  beforeAll(async () => {
    bench = await openStack({ time: 'skipping', sandbox: { stepMs: 1 } });
  });
  afterEach(() => bench.terminateAll());
  afterAll(() => bench.close());
  beforeEach(() => bench.control('DELETE', '/faults'));

  const failed = async (word: string, auto: boolean, more: Record<string, unknown> = {}, refundEnding?: string) => {
    const reference = newReference(word);
    await bench.control('POST', '/scenarios', { reference, ending: 'silent' });
    if (refundEnding !== undefined) {
      await bench.control('POST', '/scenarios', { reference: `${reference}.refund`, ending: refundEnding });
    }
    const handle = await bench.start(transferInput(reference, { refund: { auto }, ...more }));
    await untilFlow(handle, ({ view }) => view.stage === 'tracking');
    await handle.signal('events', [FAILED()]);
    await untilFlow(handle, ({ view }) => view.stage === 'refunding');
    return { reference, refund: `${reference}.refund`, handle };
  };

  test('the refund is sent to the fallback address, once, and confirmed by its own status', async () => {
    const { reference, refund, handle } = await failed('auto', true);
    const { view } = (await handle.result()) as FlowReport;
    expect(view.state).toBe('refunded');
    expect(await bench.executions('sendCrypto', refund)).toBe(1);
    expect(await bench.executions('createBridgeDeposit', reference)).toBe(1);
  });

  test('the refund is not sent before the service has had a quarter of an hour since the failure to refund by itself', async () => {
    const { refund, handle } = await failed('in-time', true);
    await bench.pass(14 * 60_000);
    expect((await handle.query<FlowReport>('flow')).view.stage).toBe('refunding');
    expect(await bench.executions('sendCrypto', refund)).toBe(0);
    expect(((await handle.result()) as FlowReport).view.state).toBe('refunded');
    expect(await bench.executions('sendCrypto', refund)).toBe(1);
  });

  test('a lost answer of the refund is settled by the status lookup: executed once, and refunded', async () => {
    await bench.control('POST', '/faults', { operation: 'sendCrypto', kind: 'answer-lost', first: 1 });
    const { refund, handle } = await failed('lost', true);
    expect(((await handle.result()) as FlowReport).view.state).toBe('refunded');
    expect(await bench.executions('sendCrypto', refund)).toBe(1);
  });

  test('fault 7: "duplicate reference" is looked up and adopted if amount and receiver match', async () => {
    await bench.control('POST', '/faults', {
      operation: 'sendCrypto',
      kind: 'duplicate-answer',
      first: 1,
      commit: true,
    });
    const { refund, handle } = await failed('duplicate', true);
    expect(((await handle.result()) as FlowReport).view.state).toBe('refunded');
    expect(await bench.executions('sendCrypto', refund)).toBe(1);
  });

  test('fault 7: "duplicate reference" with another amount parks with both sides, and nothing is sent', async () => {
    const reference = newReference('other-amount');
    await bench.control('POST', '/scenarios', { reference, ending: 'silent' });
    const refund = `${reference}.refund`;
    await bench.deps.service.sendCrypto({
      receiverAddress: '0x2222222222222222222222222222222222222222',
      chain: 'CELO',
      token: 'USDC',
      cryptoAmount: 1.25,
      referenceId: refund,
    });
    await bench.control('POST', '/settings', { repeatMode: 'conflict' });
    const handle = await bench.start(transferInput(reference, { refund: { auto: true } }));
    await untilFlow(handle, ({ view }) => view.stage === 'tracking');
    await handle.signal('events', [FAILED()]);
    await untilFlow(handle, ({ view }) => view.stage === 'refunding');
    await bench.pass(REFUND_OVERDUE_MS);
    const { view } = await untilFlow(handle, (report) => report.view.state === 'parked');
    expect(view.parked).toMatchObject({ reason: 'duplicate_mismatch', evidence: { theirs: { cryptoAmount: '1.25' } } });
    expect(view.parked?.actions).toEqual(['close-not-executed', 'mark-refunded']);
    expect(await bench.executions('sendCrypto', refund)).toBe(1);
    await bench.control('POST', '/settings', { repeatMode: 'same-result' });
    await handle.executeUpdate('resolve', { args: [{ action: 'mark-refunded', note: 'sent', actor: 'ada' }] });
    expect(((await handle.result()) as FlowReport).view.state).toBe('refunded');
  });

  test('a refund that the service refuses parks, and a person decides how it ended', async () => {
    const { refund, handle } = await failed('refused', true, {}, 'rejected');
    await bench.pass(REFUND_OVERDUE_MS);
    const { view } = await untilFlow(handle, (report) => report.view.state === 'parked');
    expect(view.parked?.reason).toBe('refund_failed');
    await handle.executeUpdate('resolve', { args: [{ action: 'mark-refunded', note: 'by bank', actor: 'ada' }] });
    expect(((await handle.result()) as FlowReport).view.state).toBe('refunded');
    expect(await bench.executions('sendCrypto', refund)).toBe(0);
  });

  test('without refund.auto it parks as refund_needed, and a person orders the refund', async () => {
    const { refund, handle } = await failed('manual', false);
    await bench.pass(REFUND_OVERDUE_MS);
    const { view } = await untilFlow(handle, (report) => report.view.state === 'parked');
    expect(view.parked?.reason).toBe('refund_needed');
    expect(JSON.stringify(view.parked?.evidence)).toMatch(/…/);
    expect(await bench.executions('sendCrypto', refund)).toBe(0);
    await handle.executeUpdate('resolve', { args: [{ action: 'refund-now', note: 'agreed', actor: 'ada' }] });
    expect(((await handle.result()) as FlowReport).view.state).toBe('refunded');
    expect(await bench.executions('sendCrypto', refund)).toBe(1);
  });

  test('a trusted COMPLETED in the inbox stops the refund inside its own claim: nothing is sent, it parks as a conflict', async () => {
    const { refund, handle } = await failed('contradicted', true);
    const flowId = handle.workflowId;
    const contradiction = trusted('COMPLETED', { source: 'settlement', proof: 'signature' });
    await bench.store.inbox.receive({
      id: contradiction.id,
      source: 'settlement',
      flowId,
      reference: flowId,
      status: 'COMPLETED',
      proof: 'signature',
      contentHash: contradiction.id,
      body: { status: 'COMPLETED' },
    });
    await bench.pass(REFUND_OVERDUE_MS);
    const { view } = await untilFlow(handle, (report) => report.view.state === 'parked');
    expect(view.parked?.reason).toBe('conflict');
    expect(await bench.executions('sendCrypto', refund)).toBe(0);
    await handle.executeUpdate('resolve', { args: [{ action: 'mark-completed', note: 'paid', actor: 'ada' }] });
    expect(((await handle.result()) as FlowReport).view.state).toBe('completed');
  });

  test('COMPLETED after the refund was sent parks as a conflict, with both proofs', async () => {
    const reference = newReference('completed-after');
    await bench.control('POST', '/scenarios', { reference, ending: 'silent' });
    await bench.control('POST', '/scenarios', { reference: `${reference}.refund`, ending: 'never' });
    const handle = await bench.start(transferInput(reference, { refund: { auto: true } }));
    await untilFlow(handle, ({ view }) => view.stage === 'tracking');
    await handle.signal('events', [FAILED()]);
    await bench.pass(REFUND_OVERDUE_MS);
    await noted(handle, 'refund-accepted');
    await handle.signal('events', [trusted('COMPLETED')]);
    const { view } = await untilFlow(handle, (report) => report.view.state === 'parked');
    expect(view.parked).toMatchObject({ reason: 'conflict', evidence: { proven: ['COMPLETED', 'FAILED'] } });
    await handle.terminate();
  });

  test('a refund by the service within the wait ends it; ours is not sent', async () => {
    const { refund, handle } = await failed('theirs', true);
    await handle.signal('events', [trusted('REFUNDED')]);
    expect(((await handle.result()) as FlowReport).view.state).toBe('refunded');
    expect(await bench.executions('sendCrypto', refund)).toBe(0);
  });
});

describe('fault 4: the service commits the refund long after our timeout', () => {
  test('n = 10: the lookup finds nothing at first and adopts it later: executed once each, none sent again', async () => {
    // Wait for the refund: 15 min × 0.005 = 4.5 s. The commit comes 10 s after the request, two seconds after our timeout;
    // the settle window of (12,000 s + 60 s) × 0.005 = 60 s costs no time, since the lookup ends it.
    const bench = await openStack({
      time: 'real',
      sandbox: { stepMs: 1 },
      deps: { serviceTimeoutMs: 12_000_000 },
      timeoutMs: 8_000,
    });
    await bench.control('POST', '/faults', {
      operation: 'sendCrypto',
      kind: 'late-commit',
      rate: 1,
      delayMs: 10_000,
      connection: 'hang',
    });
    // Its default deadline, 18 s then, could come within the wait on a busy machine: a person would be asked.
    const input = { timeScale: 0.005, deadlineSeconds: 86_400 };
    const ends = await Promise.all(
      Array.from({ length: 10 }, async () => {
        const reference = newReference('late-commit');
        await bench.control('POST', '/scenarios', { reference, ending: 'silent' });
        const handle = await bench.start(transferInput(reference, { ...input, refund: { auto: true } }));
        await untilFlow(handle, ({ view }) => view.stage === 'tracking');
        await handle.signal('events', [FAILED()]);
        const { view } = (await handle.result()) as FlowReport;
        return [view.state, await bench.executions('sendCrypto', `${reference}.refund`)];
      }),
    );
    const { injections } = await bench.control('GET', '/faults/log?operation=sendCrypto');
    expect(ends).toEqual(ends.map(() => ['refunded', 1]));
    expect(injections).toHaveLength(10);
    await bench.close();
  });
});
