import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { MoneyOperationName } from '../../src/contract/index.js';
import { flowOf } from '../../src/flows/index.js';
import type { FlowReport } from '../../src/api/flow.js';
import { trusted } from '../harness/inputs.js';
import { flowInput } from '../harness/kind.js';
import { likeKinds } from '../harness/kinds.js';
import { newReference } from '../harness/references.js';
import { noted, untilFlow } from '../harness/reports.js';
import { type Stack, openStack } from '../harness/stack.js';
import { endOf, move, order, parked } from './ramps.js';

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const UNTRUSTED = { trusted: false, proof: null, source: 'webhook' } as const;
type Handle = Awaited<ReturnType<Stack['startFlow']>>;

/** What holds for every kind with one POST whose end the service's status lookup reports. */
describe.each(likeKinds('looked-up'))('a $kind', (kind) => {
  const { record, posts, open, fails } = kind;
  const post = posts[record as MoneyOperationName];
  const [amount = ''] = post?.booked ?? [];
  let bench: Stack;
  beforeAll(async () => {
    bench = await openStack({ time: 'skipping', sandbox: { stepMs: 5 } });
  });
  afterEach(() => bench.terminateAll());
  afterAll(() => bench.close());
  beforeEach(async () => {
    await bench.control('DELETE', '/faults');
    const usual = { vocabulary: 'interface', numbersAsStrings: false, repeatMode: 'conflict' };
    await bench.control('POST', '/settings', usual);
  });

  const startAs = (reference: string, more: Record<string, unknown> = {}) =>
    bench.startFlow(kind.kind, reference, { ...flowInput(kind, reference), deadlineSeconds: 3_600, ...more });
  const start = async (word: string, ending = 'completed', more: Record<string, unknown> = {}) => {
    const reference = newReference(word);
    await bench.control('POST', '/scenarios', { reference, ending });
    return { reference, handle: await startAs(reference, more) };
  };
  const fault = (faultKind: string) =>
    bench.control('POST', '/faults', { operation: record, kind: faultKind, first: 1 });
  const executions = (reference: string) => bench.executions(record, reference);
  const outcomeOf = async (handle: Handle) => (await endOf(handle)).view.outcome;

  /** Another party used the reference before, for another amount. */
  const used = async (reference: string) => {
    const { input, submissions } = flowOf(kind.kind);
    const theirs = input.parse({ ...flowInput(kind, reference), [amount]: '9' });
    const call = bench.deps.service[record as MoneyOperationName] as (body: unknown) => Promise<unknown>;
    await call(submissions?.[post?.step ?? '']?.request(theirs, { callbackUrl: 'http://127.0.0.1:9/' }));
  };

  test.each(['interface', 'live'])('ends by its lookup alone, in the words of the %s service', async (vocabulary) => {
    await bench.control('POST', '/settings', { vocabulary });
    const { reference, handle } = await start('happy');
    expect(await outcomeOf(handle)).toMatchObject({ state: 'completed', reason: null });
    expect(await executions(reference)).toBe(1);
    const failing = await start('failing', fails.ending);
    expect(await outcomeOf(failing.handle)).toMatchObject({ state: 'failed', reason: fails.reason });
  });

  test.each(['answer-lost', 'error-after', 'garbage', 'duplicate-answer'])(
    'after %s the lookup adopts it, in any spelling of its amount: executed once',
    async (faultKind) => {
      await bench.control('POST', '/settings', { numbersAsStrings: true });
      await fault(faultKind);
      const { reference, handle } = await start(faultKind);
      expect(await outcomeOf(handle)).toMatchObject({ state: 'completed' });
      expect(await executions(reference)).toBe(1);
    },
  );

  test.each([
    ['reset-before', 'send-again', { state: 'completed', reason: null }, 1],
    ['error-before', 'send-again', { state: 'completed', reason: null }, 1],
    ['reset-before', 'close-not-executed', { state: 'failed', reason: 'not_executed' }, 0],
  ])('after %s it parks, and a person orders %s', async (faultKind, action, outcome, times) => {
    await fault(faultKind);
    const { reference, handle } = await start(faultKind);
    const { view } = await parked(bench, handle);
    expect(view.parked).toMatchObject({
      reason: 'not_found_at_service',
      actions: ['send-again', 'close-not-executed'],
    });
    expect(await executions(reference)).toBe(0);
    await order(handle, action);
    expect(await outcomeOf(handle)).toMatchObject(outcome);
    expect(await executions(reference)).toBe(times);
  });

  test('a trusted event proves a lost POST before any lookup does', async () => {
    await fault('reset-before');
    const { handle } = await start('proven');
    await untilFlow(handle, ({ view }) => view.stage === 'outcome-unknown');
    await handle.signal('events', [trusted('PENDING')]);
    const { view } = await noted(handle, 'proven');
    expect(view.state).toBe('running');
    await handle.terminate();
  });

  test('another one under its reference is not taken for its own', async () => {
    const reference = newReference('taken');
    await used(reference);
    const handle = await startAs(reference);
    const { view } = await parked(bench, handle);
    const evidence = { theirs: { [amount]: '9' } };
    expect(view.parked).toMatchObject({ reason: 'duplicate_mismatch', actions: ['close-not-executed'], evidence });
    expect(await executions(reference)).toBe(1);
    await handle.terminate();
  });

  test('nor if the service answers with its first result: accepted, and of another amount, it parks', async () => {
    await bench.control('POST', '/settings', { repeatMode: 'same-result' });
    const reference = newReference('taken');
    await used(reference);
    const handle = await startAs(reference, { timeScale: 0.01 });
    await handle.signal('events', [trusted('SUCCESS', { source: 'webhook' })]);
    const { view } = await untilFlow(handle, (report) => report.view.state === 'parked');
    const evidence = { differs: [amount], theirs: { [amount]: '9' } };
    expect(view.parked).toMatchObject({ reason: 'conflict', evidence });
    expect(await executions(reference)).toBe(1);
    // As far as is known, the proven success belongs to the other payment: it does not contradict a person's order.
    await order(handle, 'mark-failed', 'ours was never executed');
    expect(await outcomeOf(handle)).toMatchObject({ state: 'failed', reason: 'closed_by_person' });
  });

  test.each(['rejected', 'insufficient-funds'])('one that is refused (%s) ends it with the reason', async (ending) => {
    const { reference, handle } = await start(ending, ending);
    expect(await outcomeOf(handle)).toMatchObject({ state: 'failed', reason: 'rejected_by_service' });
    expect(await executions(reference)).toBe(0);
  });

  test('an hour of waiting adds no history; at its deadline it parks, and a late event resolves it', async () => {
    const { reference, handle } = await start('late', open.ending);
    await bench.pass(MINUTE_MS);
    await noted(handle, 'status-looked-up');
    const before = (await handle.describe()).historyLength;
    await bench.pass(HOUR_MS - 3 * MINUTE_MS);
    expect((await handle.describe()).historyLength - before).toBeLessThanOrEqual(8);
    const { view } = await parked(bench, handle);
    expect(view.parked?.reason).toBe(kind.overdue);
    await move(bench, reference, ...open.rest);
    await handle.signal('events', [trusted('SUCCESS')]);
    expect(await outcomeOf(handle)).toMatchObject({ state: 'completed' });
  });

  test('a late event that the lookup does not bear out decides nothing; a person does', async () => {
    const { handle } = await start('hint', open.ending);
    await parked(bench, handle);
    const before = (await handle.describe()).historyLength;
    await handle.signal('events', [trusted('SUCCESS')]);
    await bench.pass(MINUTE_MS);
    expect((await parked(bench, handle)).view.parked?.reason).toBe(kind.overdue);
    expect((await handle.describe()).historyLength - before).toBeLessThan(60);
    await order(handle, 'mark-completed');
    expect(await outcomeOf(handle)).toMatchObject({ state: 'completed' });
  });

  test('a trusted event before that is a hint, and an untrusted one moves nothing', async () => {
    const { handle } = await start('hint', open.ending);
    await bench.pass(MINUTE_MS);
    await noted(handle, 'status-looked-up');
    await handle.signal('events', [trusted('SUCCESS', UNTRUSTED), trusted('FAILED', UNTRUSTED)]);
    await bench.pass(2 * MINUTE_MS);
    const { view, events } = await handle.query<FlowReport>('flow');
    expect([view.state, Object.values(events)]).toEqual(['running', ['unverified', 'unverified']]);
    await handle.signal('events', [trusted('SUCCESS', { source: 'webhook' })]);
    expect((await noted(handle, 'event-applied', 'SUCCESS')).view.state).toBe('running');
    await handle.terminate();
  });

  test('cancelling is refused once money may have moved', async () => {
    const { handle } = await start('cancel', open.ending);
    await noted(handle, 'accepted');
    await expect(handle.executeUpdate('cancel', { args: [{ actor: 'ada' }] })).rejects.toThrow();
    await handle.terminate();
  });
});
