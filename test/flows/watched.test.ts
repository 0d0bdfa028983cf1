import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import { flowOf } from '../../src/flows/index.js';
import type { FlowReport } from '../../src/api/flow.js';
import { defaultDeadlineSeconds, PARK_ACTIONS } from '../../src/protocol/vocabulary.js';
import { trusted } from '../harness/inputs.js';
import { StoreUnavailableError } from '../../src/store/store-errors.js';
import { referenceMember } from '../harness/kind.js';
import { likeKinds } from '../harness/kinds.js';
import { newReference } from '../harness/references.js';
import { entriesOf, noted, untilFlow } from '../harness/reports.js';
import { until } from '../harness/until.js';
import { type Stack, openStack } from '../harness/stack.js';
import { endOf } from './by-events-setup.js';

const MINUTE_MS = 60_000;

/** What holds for every kind that moves nothing, and waits for how a record ends. */
describe.each(likeKinds('watched'))('a $kind', (watched) => {
  const { kind, input, record, open, fails, overdue, begunBy } = watched;
  const [good = ''] = open.rest.slice(-1);
  let bench: Stack;
  beforeAll(async () => {
    bench = await openStack({ time: 'skipping', sandbox: { stepMs: 20 } });
  });
  afterEach(() => bench.terminateAll());
  afterAll(() => bench.close());
  beforeEach(() => bench.control('DELETE', '/faults'));

  const begin = async (reference: string, ending: string) => {
    await bench.control('POST', '/scenarios', { reference, ending, operation: record });
    const begun = begunBy?.(reference);
    if (begun !== undefined) await bench.control('POST', begun.path, begun.body);
  };
  const watch = (reference: string, more: Record<string, unknown> = {}) =>
    bench.startFlow(kind, reference, { ...input(reference), ...more });
  const start = async (ending: string, more: Record<string, unknown> = {}) => {
    const reference = newReference('watched');
    await begin(reference, ending);
    return { reference, handle: await watch(reference, more) };
  };
  const finish = async (reference: string) => {
    for (const status of open.rest) await bench.move(reference, status, record);
  };
  const looked = (handle: WorkflowHandle) => noted(handle, 'status-looked-up');
  const parked = (handle: WorkflowHandle) => untilFlow(handle, ({ view }) => view.state === 'parked');
  const looksOf = async (handle: WorkflowHandle) =>
    ((await handle.fetchHistory()).events ?? []).filter(
      (event) => event.activityTaskScheduledEventAttributes?.activityType?.name === 'awaitStatus',
    ).length;

  test.each([
    ['completed', 'completed', null],
    [fails.ending, 'failed', fails.reason],
  ])('of what ends as %s ends as %s by its lookup alone, without any webhook', async (ending, state, reason) => {
    const { handle } = await start(ending);
    expect(await endOf(handle)).toMatchObject({ kind, outcome: { state, reason } });
  });

  test('waits for what the service does not know yet', async () => {
    const reference = newReference('unknown');
    const handle = await watch(reference, { deadlineSeconds: 600 });
    await bench.pass(11 * MINUTE_MS);
    const { view } = await parked(handle);
    expect(view.parked).toMatchObject({ reason: overdue, evidence: { words: [] } });
    expect(entriesOf(view, 'not-asked')).toEqual([]);
    if (begunBy === undefined) return handle.terminate();
    await begin(reference, 'completed');
    return expect((await endOf(handle)).state).toBe('completed');
  });

  test('does not expire if its store is away until its deadline: a person is asked, and the service, once it can be', async () => {
    const unavailable = new StoreUnavailableError('AWAY', 'database');
    const away = jest.spyOn(bench.store.deployment, 'read').mockRejectedValue(unavailable);
    const { handle } = await start('completed', { deadlineSeconds: 60 });
    await until('the store to be tried', () => away.mock.calls.length > 0);
    await bench.pass(2 * MINUTE_MS);
    expect((await parked(handle)).view.parked).toMatchObject({ reason: 'step_failed' });
    away.mockRestore();
    await bench.pass(2 * MINUTE_MS);
    expect((await endOf(handle)).state).toBe('completed');
  });

  test('goes on asking a person whose order could not be checked while its store was away, and goes on once it is back', async () => {
    const unavailable = new StoreUnavailableError('AWAY', 'database');
    const away = jest.spyOn(bench.store.deployment, 'read').mockRejectedValue(unavailable);
    const unread = jest.spyOn(bench.store.inbox, 'hasToMatch').mockRejectedValue(unavailable);
    const { handle } = await start('completed', { deadlineSeconds: 60 });
    await until('the store to be tried', () => away.mock.calls.length > 0);
    await bench.pass(2 * MINUTE_MS);
    const first = (await parked(handle)).view.parked?.since;
    const order = { action: 'mark-failed', note: 'it says so', actor: 'ada' };
    const ordered = handle.executeUpdate('resolve', { args: [order] });
    await Promise.all([expect(ordered).rejects.toThrow(), bench.pass(MINUTE_MS)]);
    const { view } = await handle.query<FlowReport>('flow');
    expect(view.parked).toMatchObject({ reason: 'step_failed', since: first });
    away.mockRestore();
    unread.mockRestore();
    await bench.pass(2 * MINUTE_MS);
    expect((await endOf(handle)).state).toBe('completed');
  });

  test('looks it up once more at its deadline, with an entry of the timeline when it cannot', async () => {
    const operation = flowOf(kind).status?.operation;
    await bench.control('POST', '/faults', { operation, kind: 'error-before' });
    const { handle } = await start(open.ending, { deadlineSeconds: 600 });
    await bench.pass(11 * MINUTE_MS);
    const { view } = await parked(handle);
    expect(entriesOf(view, 'not-asked')).toHaveLength(1);
    await handle.terminate();
  });

  test('is delayed by a service that is down, and not failed', async () => {
    const operation = flowOf(kind).status?.operation;
    await bench.control('POST', '/faults', { operation, kind: 'error-before', first: 3 });
    const { handle } = await start('completed');
    expect((await endOf(handle)).state).toBe('completed');
  });

  test('makes a lookup at once when a trusted event reports an end, and the lookup decides', async () => {
    const { reference, handle } = await start(open.ending);
    await looked(handle);
    await handle.signal('events', [trusted('REJECTED', { source: 'webhook' })]);
    await untilFlow(handle, ({ view }) =>
      // Not every kind knows this word.
      (['event-applied', 'status-unknown'] as const).some((code) => entriesOf(view, code, 'REJECTED').length > 0),
    );
    expect((await handle.query<FlowReport>('flow')).view.state).toBe('running');
    await finish(reference);
    await handle.signal('events', [trusted(good, { source: 'webhook' })]);
    expect((await endOf(handle)).state).toBe('completed');
  });

  test('an untrusted event moves nothing and asks nothing', async () => {
    const { handle } = await start(open.ending);
    await looked(handle);
    // One lookup at once, whose PENDING was new, and the slow one after it.
    await until('the second one', async () => (await looksOf(handle)) >= 2);
    await handle.signal('events', [trusted(good, { trusted: false, proof: null, source: 'webhook' })]);
    await noted(handle, 'event-unverified', good);
    expect(await looksOf(handle)).toBe(2);
    expect((await handle.query<FlowReport>('flow')).view.state).toBe('running');
    await handle.terminate();
  });

  test('adds no history while it waits, parks at its deadline, and is resolved by a late event', async () => {
    const deadlineMs = defaultDeadlineSeconds(kind) * 1_000;
    const { reference, handle } = await start(open.ending);
    await looked(handle);
    const before = (await handle.describe()).historyLength;
    await bench.pass(deadlineMs - 2 * MINUTE_MS);
    expect((await handle.describe()).historyLength - before).toBeLessThanOrEqual(8);
    expect((await handle.query<FlowReport>('flow')).view.state).toBe('running');
    await bench.pass(3 * MINUTE_MS);
    const { view } = await parked(handle);
    const actions = PARK_ACTIONS[overdue];
    expect(view.parked).toMatchObject({
      reason: overdue,
      actions,
      evidence: { words: [expect.stringMatching(/^(FIAT_)?PENDING$/)] },
    });
    await finish(reference);
    await handle.signal('events', [trusted(good, { source: 'webhook' })]);
    expect((await endOf(handle)).state).toBe('completed');
  }, 120_000);

  test.each([
    ['mark-completed', 'completed'],
    ['mark-failed', 'failed'],
  ])('parked at its deadline, a person may say %s', async (action, state) => {
    const { handle } = await start(open.ending, { deadlineSeconds: 600 });
    await looked(handle);
    await bench.pass(11 * MINUTE_MS);
    await parked(handle);
    await handle.executeUpdate('resolve', { args: [{ action, note: 'seen in the portal', actor: 'ada' }] });
    expect((await endOf(handle)).state).toBe(state);
  });

  test('moves nothing, so it can be cancelled at any time, parked too', async () => {
    const running = (await start(open.ending)).handle;
    await looked(running);
    await running.executeUpdate('cancel', { args: [{ actor: 'ada' }] });
    const { state, timeline } = await endOf(running);
    expect(state).toBe('cancelled');
    // Its own request, with which it closes as Cancelled, is no order of a person.
    expect(timeline.filter(({ by }) => by === 'Temporal UI')).toEqual([]);

    const late = (await start(open.ending, { deadlineSeconds: 600 })).handle;
    await looked(late);
    await bench.pass(11 * MINUTE_MS);
    await parked(late);
    await late.executeUpdate('cancel', { args: [{ actor: 'ada' }] });
    expect((await endOf(late)).state).toBe('cancelled');
  });

  test('refuses a reference that is none, by name', async () => {
    const handle = await bench.startFlow(kind, 'x', input('../x'));
    const { outcome } = await endOf(handle);
    expect(outcome).toMatchObject({ state: 'failed', reason: 'invalid_input' });
    expect(outcome?.detail).toContain(referenceMember(watched));
  });
});
