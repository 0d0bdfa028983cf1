import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { RejectedError } from '../../src/service-client/index.js';
import { trusted } from '../harness/inputs.js';
import { newReference } from '../harness/references.js';
import { untilFlow } from '../harness/reports.js';
import { until } from '../harness/until.js';
import { ended, openDecisionBench, parked, TIME_SCALE } from './bench.js';

/** It is sent, the cancel is admitted, and the flow reads its inbox twice: what the cancel reads is held. */
const STEPS = 4;

const gate = () => {
  let open = () => undefined as void;
  return { opened: new Promise<void>((resolve) => (open = resolve)), open: () => open() };
};

describe('a cancel while a payment is about to end otherwise', () => {
  let decisions: Awaited<ReturnType<typeof openDecisionBench>>;
  beforeAll(async () => {
    decisions = await openDecisionBench(() => ({
      sendCrypto: () => {
        const refusal = {
          httpStatus: 400,
          message: 'limit',
          fields: [],
          isRateExpired: false,
          isAboutReference: false,
        };
        return Promise.reject(new RejectedError('sendCrypto', refusal));
      },
    }));
  });
  afterEach(() => vi.restoreAllMocks());
  afterAll(() => decisions.close());

  const begin = async (word: string) => {
    const reference = newReference(word);
    const handle = await decisions.bench.startFlow('crypto-send', reference, {
      referenceId: reference,
      receiverAddress: '0x1111111111111111111111111111111111111111',
      chain: 'CELO',
      token: 'USDC',
      cryptoAmount: '7.5',
      timeScale: TIME_SCALE,
    });
    return handle;
  };
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
    const handle = await begin('refused');
    await until('the flow to read its inbox', () => readings.begun() === 1);
    const refused = expect(handle.executeUpdate('cancel', cancel)).rejects.toMatchObject({
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
    await refused;
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
    const handle = await begin('promised');
    await until('the flow to read its inbox', () => readings.begun() === 1);
    expect(await handle.executeUpdate('cancel', cancel)).toEqual({ cancelled: true });
    readings.letGo(0);
    expect(await ended(handle)).toMatchObject({ state: 'cancelled' });
  });
});
