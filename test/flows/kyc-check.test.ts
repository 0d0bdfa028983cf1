import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import { kycCheckFlow, kycWord } from '../../src/flows/kyc-check.js';
import type { FlowReport } from '../../src/protocol/messages.js';
import { trusted } from '../harness/inputs.js';
import { newReference } from '../harness/references.js';
import { untilFlow } from '../harness/reports.js';
import { type Stack, openStack } from '../harness/stack.js';
import { endOf } from './told-by-events-setup.js';

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

describe('a KYC check', () => {
  let bench: Stack;
  beforeAll(async () => {
    bench = await openStack({ time: 'skipping', sandbox: { stepMs: 20 } });
  });
  afterAll(() => bench.close());
  beforeEach(() => bench.control('DELETE', '/faults'));

  /** The sandbox's records: their ids say how they end. */
  const check = async (word: string, more: Record<string, unknown> = {}) => {
    const kycId = newReference(word);
    return { kycId, handle: await bench.startFlow('kyc-check', kycId, { kycId, ...more }) };
  };
  const looked = (handle: WorkflowHandle) =>
    untilFlow(handle, ({ view }) => view.timeline.some(({ detail }) => detail.includes('looked up')));
  const looksOf = async (handle: WorkflowHandle) =>
    ((await handle.fetchHistory()).events ?? []).filter(
      (event) => event.activityTaskScheduledEventAttributes?.activityType?.name === 'awaitStatus',
    ).length;
  const decideBy = (kycId: string, status: string) => bench.move(kycId, status, 'getKycStatus');

  test.each([
    ['already-approved', 'completed', null, 'approved'],
    ['approved', 'completed', null, 'approved'],
    ['already-rejected', 'failed', 'kyc_rejected', 'rejected'],
    ['rejected', 'failed', 'kyc_rejected', 'rejected'],
  ])(
    'of a record that is %s ends as %s by its lookup alone, without any webhook',
    async (word, state, reason, says) => {
      const { handle } = await check(word);
      await looked(handle);
      await bench.pass(31 * MINUTE_MS);
      const { outcome } = await endOf(handle);
      expect(outcome).toMatchObject({ state, reason });
      expect(outcome?.detail).toContain(says);
    },
  );

  test('a trusted event makes it look at once, and the lookup decides', async () => {
    const { kycId, handle } = await check('pending');
    await looked(handle);
    await handle.signal('events', [trusted('REJECTED', { source: 'webhook' })]);
    await untilFlow(handle, ({ view }) => view.timeline.some(({ detail }) => detail.startsWith('REJECTED')));
    expect((await handle.query<FlowReport>('flow')).view.state).toBe('running');
    await decideBy(kycId, 'APPROVED');
    await handle.signal('events', [trusted('APPROVED', { source: 'webhook' })]);
    expect(((await handle.result()) as FlowReport).view.outcome?.detail).toMatch(/approved/);
  });

  test('an untrusted event moves nothing and asks nothing', async () => {
    const { handle } = await check('pending');
    await looked(handle);
    // One look at once, whose PENDING was news, and the slow one after it.
    while ((await looksOf(handle)) < 2) await new Promise((resolve) => setTimeout(resolve, 25));
    await handle.signal('events', [trusted('APPROVED', { trusted: false, proof: null, source: 'webhook' })]);
    await untilFlow(handle, ({ view }) => view.timeline.some(({ detail }) => detail.startsWith('unverified APPROVED')));
    expect(await looksOf(handle)).toBe(2);
    await handle.terminate();
  });

  test('waits seven days, adds no history while it waits, then parks; a late event resolves it', async () => {
    const { kycId, handle } = await check('pending');
    await looked(handle);
    const before = (await handle.describe()).historyLength;
    await bench.pass(DAY_MS);
    expect((await handle.describe()).historyLength - before).toBeLessThanOrEqual(8);
    expect((await handle.query<FlowReport>('flow')).view.state).toBe('running');
    await bench.pass(6 * DAY_MS);
    const { view } = await untilFlow(handle, (report) => report.view.state === 'parked');
    expect(view.parked).toMatchObject({
      reason: 'no_decision',
      actions: ['keep-waiting', 'mark-completed', 'mark-failed'],
      evidence: { words: ['PENDING'] },
    });
    await decideBy(kycId, 'APPROVED');
    await handle.signal('events', [trusted('APPROVED', { source: 'webhook' })]);
    expect(((await handle.result()) as FlowReport).view.state).toBe('completed');
  }, 120_000);

  test.each([
    ['mark-completed', 'completed'],
    ['mark-failed', 'failed'],
  ])('parked at its deadline, a person may say %s', async (action, state) => {
    const { handle } = await check('review', { deadlineSeconds: 600 });
    await looked(handle);
    await bench.pass(11 * MINUTE_MS);
    await untilFlow(handle, (report) => report.view.state === 'parked');
    await handle.executeUpdate('resolve', { args: [{ action, note: 'seen in the portal', actor: 'ada' }] });
    expect((await endOf(handle)).state).toBe(state);
  });

  test('moves nothing, so it can be cancelled at any time, parked too', async () => {
    const running = await check('pending');
    await looked(running.handle);
    await running.handle.executeUpdate('cancel', { args: [{ actor: 'ada' }] });
    expect((await endOf(running.handle)).state).toBe('cancelled');

    const late = await check('pending', { deadlineSeconds: 600 });
    await looked(late.handle);
    await bench.pass(11 * MINUTE_MS);
    await untilFlow(late.handle, (report) => report.view.state === 'parked');
    await late.handle.executeUpdate('cancel', { args: [{ actor: 'ada' }] });
    expect((await endOf(late.handle)).state).toBe('cancelled');
  });

  test('a service that is down, and a record that it does not know, delay it and do not fail it', async () => {
    await bench.control('POST', '/faults', { operation: 'getKycStatus', kind: 'error-before', first: 3 });
    const { handle } = await check('already-approved');
    expect((await endOf(handle)).state).toBe('completed');

    const unknown = await check('unknown', { deadlineSeconds: 600 });
    await bench.pass(11 * MINUTE_MS);
    const { view } = await untilFlow(unknown.handle, (report) => report.view.state === 'parked');
    expect(view.parked).toMatchObject({ reason: 'no_decision', evidence: { words: [] } });
    await unknown.handle.terminate();
  });

  test('a record whose word cannot be read is looked at as seldom as one that says nothing new', async () => {
    const looks = { count: 0 };
    const { getKycStatus } = bench.deps.service;
    const strange: typeof getKycStatus = async (argument) => {
      looks.count += 1;
      const { kycStatus: _, ...record } = await getKycStatus(argument);
      return { ...record, status: 'en révision '.repeat(5) };
    };
    const own = await openStack({
      time: 'skipping',
      deps: { service: { ...bench.deps.service, getKycStatus: strange } },
    });
    const kycId = newReference('pending');
    const handle = await own.startFlow('kyc-check', kycId, { kycId, deadlineSeconds: 86_400 });
    await own.pass(DAY_MS + MINUTE_MS);
    const { view } = await untilFlow(handle, (report) => report.view.state === 'parked');
    expect(view.parked).toMatchObject({ reason: 'no_decision', evidence: { words: [] } });
    // Every quarter of an hour.
    expect(looks.count).toBeLessThan(120);
    expect((await handle.describe()).historyLength).toBeLessThan(60);
    await handle.terminate();
    await own.close();
  }, 60_000);

  test('goes on as new while somebody waits for an answer, which there is none of', async () => {
    const own = await openStack({ time: 'skipping', sandbox: { stepMs: 3_600_000 } });
    const kycId = newReference('pending');
    const handle = await own.startFlow('kyc-check', kycId, { kycId });
    await looked(handle);
    const waiting = await handle.startUpdate<{ kind: string }, []>('answer', { waitForStage: 'ACCEPTED' });
    const first = (await handle.describe()).runId;
    const latest = own.client.workflow.getHandle(handle.workflowId);
    for (let signal = 0; signal < 180; signal += 1) await latest.signal('events', []);
    expect((await waiting.result()).kind).toBe('none');
    while ((await latest.describe()).runId === first) await new Promise((resolve) => setTimeout(resolve, 25));
    await latest.terminate();
    await own.close();
  }, 30_000);

  test('refuses an id that is none, by name', async () => {
    const handle = await bench.startFlow('kyc-check', 'x', { kycId: '../x' });
    expect((await endOf(handle)).outcome).toMatchObject({ state: 'failed', reason: 'invalid_input' });
  });

  test.each<[string | undefined, boolean | undefined, string | null]>([
    ['APPROVED', true, 'APPROVED'],
    ['approved', undefined, 'APPROVED'],
    ['verified', undefined, 'APPROVED'],
    ['COMPLETED', true, 'APPROVED'],
    ['anything', true, 'APPROVED'],
    [undefined, true, 'APPROVED'],
    ['REJECTED', false, 'REJECTED'],
    ['declined', undefined, 'REJECTED'],
    // Nobody looked at it yet.
    ['PENDING', false, 'PENDING'],
    [undefined, false, 'PENDING'],
    // Somebody is done, and did not say how.
    ['COMPLETED', undefined, 'COMPLETED'],
    ['COMPLETED', false, 'COMPLETED but kycStatus false'],
    // A contradiction decides nothing.
    ['APPROVED', false, 'APPROVED but kycStatus false'],
    ['REJECTED', true, 'REJECTED but kycStatus true'],
    [undefined, undefined, null],
  ])('reads status %s with kycStatus %s as %s', (text, approved, word) => {
    expect(kycWord(text, approved)).toBe(word);
  });

  test('reads the event in either spelling, with an envelope and without', () => {
    const read = (body: unknown) => {
      const { reference, status } = kycCheckFlow.readEvent(body) ?? {};
      return [reference, status];
    };
    const event = 'kyc.status.changed';
    expect(read({ event, data: { kycId: 'k-1', status: 'APPROVED', kycStatus: true } })).toEqual(['k-1', 'APPROVED']);
    expect(read({ event, data: { kyc_id: 'k-1', kyc_status: 'true' } })).toEqual(['k-1', 'APPROVED']);
    expect(read({ reference_id: 'k-1', status: 'rejected' })).toEqual(['k-1', 'REJECTED']);
    expect(kycCheckFlow.readEvent('text')).toBeUndefined();
  });
});
