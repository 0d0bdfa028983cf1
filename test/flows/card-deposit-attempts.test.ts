import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import { createCardVault } from '../../src/gateway/cards/card-intake.js';
import { InvalidRequestError } from '../../src/service-client/index.js';
import { CANARY_CARD } from '../harness/parties.js';
import { entriesOf, noted, reportOf, untilFlow } from '../harness/reports.js';
import type { Stack } from '../harness/stack.js';
import { ended, openCardBench, tracked, type CardBench } from './cards/card-bench.js';

/** How the attempts to send a card follow one another while it lives. */
describe('a card deposit', () => {
  let cards: CardBench;
  let bench: Stack;
  beforeAll(async () => {
    cards = await openCardBench();
    ({ bench } = cards);
  });
  afterAll(() => cards.close());
  beforeEach(async () => Promise.all([bench.control('DELETE', '/faults'), bench.terminateAll()]));
  const fault = (kind: string, more: Record<string, unknown>) =>
    bench.control('POST', '/faults', { operation: 'createCardDeposit', kind, ...more });
  const triedAgainAt = async (handle: WorkflowHandle) => {
    const { view } = await reportOf(handle);
    return entriesOf(view, 'not-sent').map(({ at }) => Date.parse(at));
  };
  const activities = async (handle: WorkflowHandle) => {
    const { events } = await handle.fetchHistory();
    return (events ?? []).flatMap((event) => event.activityTaskScheduledEventAttributes?.activityType?.name ?? []);
  };

  test('that was not sent is tried again after pauses that double, until its minute is over', async () => {
    await fault('unauthorized', { first: 50 });
    const busy = await cards.anotherGateway();
    const { handle } = await cards.deposit('refused', {}, busy);
    await noted(handle, 'not-sent');
    await bench.pass(60_000);
    const { view } = await ended(handle);
    expect(view.outcome).toMatchObject({ state: 'failed', reason: 'card_details_expired' });
    const at = await triedAgainAt(handle);
    // Another 32 s would be too long.
    const pauses = at.slice(1).map((ms, index) => Math.floor((ms - (at[index] ?? 0)) / 1_000));
    expect(pauses).toEqual([1, 2, 4, 8, 16]);
    expect((await activities(handle)).filter((name) => name === 'submitCardDeposit')).toHaveLength(6);
    await busy.close();
  });

  test('waits as long as the service asks, if that is longer', async () => {
    await fault('rate-limited', { first: 1, retryAfterSeconds: 20 });
    const { handle } = await cards.deposit('asked-to-wait');
    await noted(handle, 'not-sent');
    await bench.pass(15_000);
    expect((await reportOf(handle)).view.stage).toBe('submitting');
    await bench.pass(10_000);
    await tracked(handle);
    expect(await triedAgainAt(handle)).toHaveLength(1);
  });

  test('waits for its turn before its card is sent, as every send of money', async () => {
    const { handle } = await cards.deposit('in-turn');
    await tracked(handle);
    const sends = (await activities(handle)).filter((name) => ['takeTurn', 'submitCardDeposit'].includes(name));
    expect(sends).toEqual(['takeTurn', 'submitCardDeposit']);
  });

  test('that cannot be asked for ends by that, and not because its card was too old', async () => {
    const { service } = bench.deps;
    const createCardDeposit = () =>
      Promise.reject(new InvalidRequestError('createCardDeposit', [{ path: 'amount', problem: 'too long' }]));
    const own = await cards.anotherGateway({ service: { ...service, createCardDeposit } });
    const { handle } = await cards.deposit('invalid', {}, own);
    expect((await ended(handle)).view.outcome).toMatchObject({ state: 'failed', reason: 'invalid_input' });
    expect(await triedAgainAt(handle)).toEqual([]);
    await own.close();
  });

  test.each([
    ['a minute', {}, 55_000, 10_000],
    ['five seconds, however short its time is scaled', { timeScale: 0.02 }, 3_000, 5_000],
  ])('waits for the gateway that keeps its card: %s', async (_how, more, before, after) => {
    const { cardToken, masked } = createCardVault({ nowMs: Date.now }).keep(CANARY_CARD, 'shop');
    const { handle } = await cards.deposit('gateway-gone', { cardToken, masked, ...more });
    await untilFlow(handle, ({ view }) => view.stage === 'submitting');
    await bench.pass(before);
    expect((await reportOf(handle)).view.outcome).toBeNull();
    await bench.pass(after);
    expect((await ended(handle)).view.outcome).toMatchObject({ reason: 'card_details_expired' });
  });
});
