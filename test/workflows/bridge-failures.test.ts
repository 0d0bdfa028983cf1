import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { FlowReport } from '../../src/api/flow.js';
import type { FlowEvent } from '../../src/protocol/messages.js';
import { transferInput, trusted } from '../harness/inputs.js';
import { newReference } from '../harness/references.js';
import { untilFlow } from '../harness/reports.js';
import { type Stack, openStack } from '../harness/stack.js';

const BARE = () => trusted('FAILED');
const EARLY = () => trusted('FAILED', { facts: { failureStage: 'deposit' } });
const DETAILED = () => trusted('FAILED', { facts: { refundAnnounced: 'true', failureStage: 'settlement' } });

describe('the failure of a bridge transfer', () => {
  let bench: Stack;
  beforeAll(async () => {
    bench = await openStack({ time: 'skipping', sandbox: { stepMs: 3_600_000_000 } });
  });
  afterEach(() => bench.terminateAll());
  afterAll(() => bench.close());

  const tracked = async (word: string) => {
    const handle = await bench.start(transferInput(newReference(word)));
    await untilFlow(handle, ({ view }) => view.stage === 'tracking');
    return handle;
  };
  const resultOf = async (handle: Awaited<ReturnType<typeof tracked>>, event: FlowEvent) =>
    (await untilFlow(handle, ({ events }) => event.id in events)).events[event.id];

  test('before any payment of the crypto counts a minute after it was reported, if nothing contradicts it', async () => {
    const handle = await tracked('bare');
    const failed = EARLY();
    await handle.signal('events', [failed]);
    expect(await resultOf(handle, failed)).toBe('applied');
    expect((await handle.query<FlowReport>('flow')).view.state).toBe('running');
    await handle.result().catch(() => undefined);
    const { view } = await handle.query<FlowReport>('flow');
    expect(view.outcome).toMatchObject({ state: 'failed', reason: 'failed_at_service' });
  });

  test.each<[string, () => readonly FlowEvent[]]>([
    ['comes before the payment of the crypto is told', () => [BARE(), trusted('PAYMENT_CONFIRMED')]],
    ['is told again with its refund', () => [BARE(), DETAILED()]],
    ['is told again without it', () => [DETAILED(), BARE()]],
    ['is of the settlement', () => [trusted('FAILED', { facts: { failureStage: 'settlement' } })]],
    [
      'is of another stage first',
      () => ['deposit', 'settlement'].map((failureStage) => trusted('FAILED', { facts: { failureStage } })),
    ],
  ])('that %s owes a refund, in whatever order and however many signals', async (_, told) => {
    for (const turn of ['at once', 'one by one']) {
      const handle = await tracked('owed');
      const events = told();
      if (turn === 'at once') await handle.signal('events', events);
      else {
        for (const event of events) {
          await handle.signal('events', [event]);
          await resultOf(handle, event);
        }
      }
      const { view } = await untilFlow(handle, ({ view }) => view.stage === 'refunding');
      expect(view.outcome).toBeNull();
      await handle.signal('events', [trusted('REFUNDED')]);
      expect(((await handle.result()) as FlowReport).view.state).toBe('refunded');
    }
  });

  test('with a new status is applied, and a repeat of it is a duplicate', async () => {
    const handle = await tracked('event-results');
    const events = [BARE(), DETAILED(), trusted('FAILED', { facts: { failureStage: 'settlement' } })];
    await handle.signal('events', events);
    const { events: results } = await untilFlow(handle, ({ view }) => view.stage === 'refunding');
    expect(events.map(({ id }) => results[id])).toEqual(['applied', 'duplicate', 'duplicate']);
    await handle.signal('events', [trusted('REFUNDED')]);
    await handle.result();
  });

  test('parks if a completion contradicts it within that minute', async () => {
    const handle = await tracked('contradicted');
    const failed = EARLY();
    await handle.signal('events', [failed]);
    await resultOf(handle, failed);
    await handle.signal('events', [trusted('COMPLETED')]);
    const { view } = await untilFlow(handle, ({ view }) => view.state === 'parked');
    expect(view.parked?.reason).toBe('conflict');
    await handle.executeUpdate('resolve', { args: [{ action: 'mark-completed', note: 'paid', actor: 'ada' }] });
    await handle.result();
  });

  test('asks a person if a completion of another amount comes within that minute', async () => {
    const handle = await tracked('mismatch');
    const failed = EARLY();
    await handle.signal('events', [failed]);
    await resultOf(handle, failed);
    await handle.signal('events', [
      trusted('COMPLETED', { facts: { settlementAmount: '7', settlementCurrency: 'ZAR' } }),
    ]);
    const { view } = await untilFlow(handle, ({ view }) => view.state === 'parked');
    expect(view.parked?.reason).toBe('event_mismatch');
    await handle.executeUpdate('resolve', { args: [{ action: 'dismiss-event', note: 'not ours', actor: 'ada' }] });
    await handle.result().catch(() => undefined);
    expect((await handle.query<FlowReport>('flow')).view.outcome?.reason).toBe('failed_at_service');
  });
});
