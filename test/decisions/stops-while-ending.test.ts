import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { trusted } from '../harness/inputs.js';
import { untilFlow } from '../harness/reports.js';
import { until } from '../harness/until.js';
import { ended, gate, openDecisionBench, parked, refused, startSend } from './bench.js';

/** It is sent, the cancel is admitted, and the flow reads its inbox twice: what the cancel reads is held. */
const STEPS = 4;

describe('a cancel while a payment is about to end otherwise', () => {
  let decisions: Awaited<ReturnType<typeof openDecisionBench>>;
  beforeAll(async () => {
    decisions = await openDecisionBench(() => ({ sendCrypto: () => Promise.reject(refused('sendCrypto')) }));
  });
  afterEach(() => vi.restoreAllMocks());
  afterAll(() => decisions.close());

  /** The first readings of the inbox, so many, wait until they are let go. */
  const holdReadings = (count: number) => {
    const gates = Array.from({ length: count }, gate);
    const { inbox } = decisions.store;
    const list = inbox.list.bind(inbox);
    let begun = 0;
    vi.spyOn(inbox, 'list').mockImplementation(async (query) => {
      // It reads the trusted events first.
      if (query.trusted === true) await gates[begun++]?.opened;
      return list(query);
    });
    return { begun: () => begun, letGo: (which: number) => gates[which]?.open() };
  };
  const cancel = { args: [{ actor: 'ann' }] as [unknown] };

  test('that is refused since an event came meanwhile leaves no failure: a person is asked', async () => {
    const readings = holdReadings(2);
    const { handle } = await startSend(decisions.bench, 'refused');
    await until('the flow to read its inbox', () => readings.begun() === 1);
    const isRefused = expect(handle.executeUpdate('cancel', cancel)).rejects.toMatchObject({
      cause: { message: expect.stringContaining('cannot be cancelled') },
    });
    await until('the cancel to read it', () => readings.begun() === 2);
    readings.letGo(0);
    // The flow has read it once more, is about to end, and waits for the cancel. Then it is proven that it was paid.
    await until('the flow to wait', async () => {
      const events = (await handle.fetchHistory()).events ?? [];
      const isDone = (event: (typeof events)[number]) => event.activityTaskCompletedEventAttributes != null;
      const sinceLast = events.slice(events.findLastIndex(isDone));
      const isTaken = sinceLast.some((event) => event.workflowTaskCompletedEventAttributes != null);
      return readings.begun() === 3 && events.filter(isDone).length === STEPS && isTaken;
    });
    await handle.signal('events', [trusted('SUCCESSFUL')]);
    await untilFlow(handle, ({ events }) => Object.keys(events).length === 1);
    readings.letGo(1);
    await isRefused;
    expect((await parked(handle)).parked?.reason).toBe('conflict');
    await handle.terminate();
  });

  test('that was promised ends it as cancelled, although its claim was found void before', async () => {
    const { claims } = decisions.store;
    const reserve = claims.reserve.bind(claims);
    vi.spyOn(claims, 'reserve').mockImplementationOnce(async (key, ask, ...more) => {
      const { flowId, fingerprint } = ask;
      await claims.voidUnsent(key, { flowId, fingerprint }, 'expired');
      return reserve(key, ask, ...more);
    });
    const readings = holdReadings(1);
    const { handle } = await startSend(decisions.bench, 'promised');
    await until('the flow to read its inbox', () => readings.begun() === 1);
    expect(await handle.executeUpdate('cancel', cancel)).toEqual({ cancelled: true });
    readings.letGo(0);
    expect(await ended(handle)).toMatchObject({ state: 'cancelled' });
  });
});
