import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { WorkflowUpdateFailedError, type WorkflowHandle } from '@temporalio/client';
import type { FlowReport } from '../../src/api/flow.js';
import { defaultDeadlineSeconds } from '../../src/protocol/vocabulary.js';
import { until } from '../harness/until.js';
import { trusted } from '../harness/inputs.js';
import { entriesOf, untilFlow } from '../harness/reports.js';
import { likeKinds } from '../harness/kinds.js';
import { openStack, type Stack } from '../harness/stack.js';
import { startCardGateway, type CardGateway } from './cards/card-gateway.js';
import { endOf, startAs } from './by-events-setup.js';

const MINUTE_MS = 60_000;
/** Between its last lookups an activity waits in real time, whatever the flows' clock does. */
const SCALED = { more: { timeScale: 0.02 } };

const stage = (handle: WorkflowHandle, name: string) => untilFlow(handle, ({ view }) => view.stage === name);
const parked = (handle: WorkflowHandle) => untilFlow(handle, ({ view }) => view.state === 'parked');
const signalEvents = (handle: WorkflowHandle, ...events: ReturnType<typeof trusted>[]) =>
  handle.signal('events', events);
const order = (handle: WorkflowHandle, action: string) =>
  handle.executeUpdate('resolve', { args: [{ action, note: 'asked the bank', actor: 'ada' }] });

const untilAllowed = (order: () => Promise<unknown>) =>
  until('the order to be allowed', () =>
    order().then(
      () => true,
      (error: unknown) => {
        if (error instanceof WorkflowUpdateFailedError) return false;
        throw error;
      },
    ),
  );

/** What holds for every kind whose POST has no lookup: only trusted events and people decide its end. */
describe.each(likeKinds('by-events'))('a $kind', (kind) => {
  let bench: Stack;
  let cards: CardGateway;
  beforeAll(async () => {
    bench = await openStack({ time: 'skipping', sandbox: { stepMs: 20 } });
    cards = await startCardGateway(bench, { info() {}, warn() {}, error() {}, debug() {} });
  });
  afterAll(async () => {
    await cards.close();
    await bench.close();
  });
  beforeEach(() => bench.control('DELETE', '/faults'));

  const takesCard = 'card' in kind.input('any');
  const start = (word: string, options: Parameters<typeof startAs>[3] = {}) =>
    startAs(bench, kind, word, { ...options, more: { ...(takesCard ? cards.keep() : {}), ...options.more } });
  const executions = (reference: string) => bench.executions(kind.record, reference);

  test.each(['SUCCESSFUL', 'SUCCESS', 'COMPLETED'])('completes by a trusted %s, executed once', async (word) => {
    const { reference, handle } = await start('happy');
    await stage(handle, 'tracking');
    await signalEvents(handle, trusted('PENDING'));
    await signalEvents(handle, trusted(word, { source: 'webhook', facts: { amount: '250.5', currency: 'ZAR' } }));
    expect(((await handle.result()) as FlowReport).view.state).toBe('completed');
    expect(await executions(reference)).toBe(1);
  });

  test.each(['FAILED', 'CANCELLED', 'DECLINED', 'EXPIRED', 'PERMANENTLY_FAILED'])(
    'fails by a trusted %s, after a while in which nothing contradicts it',
    async (word) => {
      const { handle } = await start('failed');
      await stage(handle, 'tracking');
      await signalEvents(handle, trusted(word));
      const view = await endOf(handle);
      expect(view.outcome).toMatchObject({ state: 'failed', reason: 'failed_at_service' });
    },
  );

  test('is refunded by a trusted REVERSED', async () => {
    const { handle } = await start('reversed');
    await stage(handle, 'tracking');
    await signalEvents(handle, trusted('REVERSED'));
    expect((await endOf(handle)).state).toBe('refunded');
  });

  test('parks if success and failure are both proven, in either order', async () => {
    for (const words of [
      ['EXPIRED', 'SUCCESSFUL'],
      ['SUCCESSFUL', 'FAILED'],
    ]) {
      const { handle } = await start('conflict');
      await stage(handle, 'tracking');
      await signalEvents(handle, ...words.map((word) => trusted(word)));
      const { view } = await parked(handle);
      expect(view.parked).toMatchObject({ reason: 'conflict', evidence: { words } });
      await handle.terminate();
    }
  });

  test('keeps words that it does not know, and takes none of them for an end', async () => {
    const { handle } = await start('strange');
    await stage(handle, 'tracking');
    await signalEvents(
      handle,
      trusted('REQUIRE_REVIEW'),
      trusted('RETRY'),
      trusted('SOMETHING_NEW'),
      trusted('SUCCESSFUL'),
    );
    const { view } = (await handle.result()) as FlowReport;
    expect(entriesOf(view, 'status-unknown', 'SOMETHING_NEW')).toHaveLength(1);
  });

  test('a trusted event makes an untrusted one with its word a repeat, and no other one', async () => {
    const { handle } = await start('repeated');
    await stage(handle, 'tracking');
    const [failed, paid] = ['FAILED', 'SUCCESSFUL'].map((word) => trusted(word, { trusted: false, proof: null }));
    const proof = trusted('FAILED');
    await signalEvents(handle, failed!, paid!, proof);
    const { events } = await untilFlow(handle, (report) => proof.id in report.events);
    expect(events).toEqual({ [failed!.id]: 'duplicate', [paid!.id]: 'unverified', [proof.id]: 'applied' });
    await handle.terminate();
  });

  test('an untrusted event of another amount that a person trusts needs another decision, with both sides shown', async () => {
    const { handle } = await start('forged-amount', { more: { deadlineSeconds: 600 } });
    await stage(handle, 'tracking');
    await signalEvents(handle, trusted('SUCCESSFUL', { trusted: false, proof: null, facts: { amount: '0.01' } }));
    await bench.pass(11 * MINUTE_MS);
    expect((await parked(handle)).view.parked?.reason).toBe('unverified_settlement');
    await order(handle, 'trust-settlement');
    const { view } = await untilFlow(handle, (report) => report.view.parked?.reason === 'event_mismatch');
    expect(view.parked?.evidence).toMatchObject({ differs: ['amount'], theirs: { amount: '0.01' } });
    expect(view.outcome).toBeNull();
    await handle.terminate();
  });

  test('an untrusted event moves nothing; at the deadline a person may trust it', async () => {
    const { handle } = await start('forged', { more: { deadlineSeconds: 600 } });
    await stage(handle, 'tracking');
    await signalEvents(handle, trusted('SUCCESSFUL', { trusted: false, proof: null }));
    await bench.pass(5 * MINUTE_MS);
    expect((await handle.query<FlowReport>('flow')).view.state).toBe('running');
    await bench.pass(6 * MINUTE_MS);
    const { view } = await parked(handle);
    expect(view.parked?.reason).toBe('unverified_settlement');
    await order(handle, 'trust-settlement');
    expect(((await handle.result()) as FlowReport).view.state).toBe('completed');
  });

  test('at its deadline it parks, and a late event resolves it; nothing is polled meanwhile', async () => {
    const deadlineMs = defaultDeadlineSeconds(kind.kind) * 1_000;
    const { reference, handle } = await start('late');
    await stage(handle, 'tracking');
    const before = (await handle.describe()).historyLength;
    await bench.pass(deadlineMs - MINUTE_MS);
    expect((await handle.describe()).historyLength - before).toBeLessThanOrEqual(1);
    await bench.pass(2 * MINUTE_MS);
    const { view } = await parked(handle);
    expect(view.parked).toMatchObject({
      reason: 'no_settlement',
      actions: ['keep-waiting', 'mark-completed', 'mark-failed', 'mark-refunded'],
    });
    await signalEvents(handle, trusted('SUCCESSFUL'));
    expect(((await handle.result()) as FlowReport).view.state).toBe('completed');
    expect(await executions(reference)).toBe(1);
  });

  test('amounts in other spellings match; another amount parks with both sides shown', async () => {
    const { handle } = await start('mismatch');
    await stage(handle, 'tracking');
    await signalEvents(handle, trusted('PENDING', { facts: { amount: '250.500' } }));
    await signalEvents(handle, trusted('SUCCESSFUL', { facts: { amount: '25.05', currency: 'ZAR' } }));
    const { view } = await parked(handle);
    expect(view.parked).toMatchObject({
      reason: 'event_mismatch',
      evidence: { differs: ['amount'], ours: { amount: '250.5' }, theirs: { amount: '25.05' } },
    });
    await order(handle, 'dismiss-event');
    await untilFlow(handle, (report) => report.view.state === 'running');
    await signalEvents(handle, trusted('SUCCESSFUL', { facts: { amount: '250.50' } }));
    expect(((await handle.result()) as FlowReport).view.state).toBe('completed');
  });

  test.each(['answer-lost', 'error-after', 'garbage'])(
    'after %s an event proves it: executed once, and completed',
    async (fault) => {
      await bench.control('POST', '/faults', { operation: kind.record, kind: fault, first: 1 });
      const { reference, handle } = await start(fault);
      await stage(handle, 'outcome-unknown');
      await signalEvents(handle, trusted('PENDING'));
      await stage(handle, 'tracking');
      await signalEvents(handle, trusted('SUCCESSFUL'));
      expect(((await handle.result()) as FlowReport).view.state).toBe('completed');
      expect(await executions(reference)).toBe(1);
    },
  );

  test('what the service commits after we gave up is executed once, and its event resolves the parked flow', async () => {
    await bench.control('POST', '/faults', {
      operation: kind.record,
      kind: 'late-commit',
      first: 1,
      delayMs: 300,
      connection: 'destroy',
    });
    const { reference, handle } = await start('late-commit', SCALED);
    await stage(handle, 'outcome-unknown');
    await bench.pass(2 * MINUTE_MS);
    await parked(handle);
    while ((await executions(reference)) === 0) await new Promise((resolve) => setTimeout(resolve, 25));
    await signalEvents(handle, trusted('PENDING'), trusted('SUCCESSFUL'));
    expect(((await handle.result()) as FlowReport).view.state).toBe('completed');
    expect(await executions(reference)).toBe(1);
  });

  test('after a lost answer and no event it parks as unknown, never failed; the late event resolves it', async () => {
    await bench.control('POST', '/faults', { operation: kind.record, kind: 'answer-lost', first: 1 });
    const { reference, handle } = await start('silent', SCALED);
    await stage(handle, 'outcome-unknown');
    await bench.pass(2 * MINUTE_MS);
    const { view } = await parked(handle);
    expect(view.parked).toMatchObject({
      reason: 'unknown_outcome',
      actions: [...(takesCard ? [] : ['send-again']), 'close-not-executed', 'mark-completed', 'mark-refunded'],
    });
    await signalEvents(handle, trusted('SUCCESSFUL'));
    expect(((await handle.result()) as FlowReport).view.state).toBe('completed');
    expect(await executions(reference)).toBe(1);
  });

  // A card is forgotten once it may have been sent.
  const orders: [string, string, number][] = takesCard ? [] : [['send-again', 'completed', 1]];
  test.each([...orders, ['close-not-executed', 'failed', 0] as const])(
    'what the service never had parks; a person orders %s: %s, executed %d times',
    async (action, state, times) => {
      await bench.control('POST', '/faults', { operation: kind.record, kind: 'reset-before', first: 1 });
      const { reference, handle } = await start('never-there', SCALED);
      await stage(handle, 'outcome-unknown');
      await bench.pass(2 * MINUTE_MS);
      await parked(handle);
      expect(await executions(reference)).toBe(0);
      await order(handle, action);
      if (state === 'completed') {
        await stage(handle, 'tracking');
        await signalEvents(handle, trusted('SUCCESSFUL'));
      }
      expect((await endOf(handle)).state).toBe(state);
      expect(await executions(reference)).toBe(times);
    },
  );

  test.each(['rejected', 'insufficient-funds'])(
    '"%s" ends it as rejected by the service, executed 0 times',
    async (e) => {
      const { reference, handle } = await start('refused', { ending: e });
      const view = await endOf(handle);
      expect(view.outcome).toMatchObject({ state: 'failed', reason: 'rejected_by_service' });
      expect(await executions(reference)).toBe(0);
    },
  );

  test('can be cancelled while nothing was sent, and not after', async () => {
    await bench.control('POST', '/faults', { operation: kind.record, kind: 'unauthorized' });
    const early = await start('cancelled');
    await stage(early.handle, 'submitting');
    // Refused while an attempt is on its way; the service refuses each, and the claim is free again.
    await untilAllowed(() => early.handle.executeUpdate('cancel', { args: [{ actor: 'ada' }] }));
    expect((await endOf(early.handle)).state).toBe('cancelled');
    expect(await executions(early.reference)).toBe(0);

    await bench.control('DELETE', '/faults');
    const late = await start('not-cancelled');
    await stage(late.handle, 'tracking');
    await expect(late.handle.executeUpdate('cancel', { args: [{ actor: 'ada' }] })).rejects.toThrow();
    expect((await late.handle.query<FlowReport>('flow')).view.state).toBe('running');
    await late.handle.terminate();
  });
});
