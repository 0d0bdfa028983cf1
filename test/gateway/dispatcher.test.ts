import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { systemClock, type Clock } from '../../src/clock.js';
import { createDispatcher, type Dispatcher } from '../../src/gateway/dispatch/dispatcher.js';
import { createIntake } from '../../src/gateway/dispatch/intake.js';
import { createOpenSignals } from '../../src/gateway/dispatch/open-signals.js';
import { createUnreadableFlows } from '../../src/gateway/dispatch/unreadable-flows.js';
import type { FlowFacts } from '../../src/temporal/flow-handle.js';
import type { FlowEvent } from '../../src/protocol/messages.js';
import type { Store } from '../../src/store/store.js';
import { anEvent, keyring, makeTemporaryStore, openAt, type TemporaryStore } from '../store/temporary-store.js';
import { until } from '../harness/until.js';

/** Flows that are signalled at once. */
const PLACES = 32;

describe('the dispatcher', () => {
  let temporary: TemporaryStore;
  let store: Store;
  let dispatcher: Dispatcher;
  /** Signals that are on their way, by flow. */
  const hanging = new Map<string, () => void>();
  const looks = { count: 0 };
  /** Whether the flows that fail still do. */
  let ailing = true;
  const warnings: string[] = [];
  /** While there is one, a slow disk: what was delivered is marked as such after it. */
  let slowDisk: Promise<void> | undefined;
  let marking = false;
  const signalled: { readonly flowId: string; readonly events: readonly FlowEvent[] }[] = [];
  /** Flows that have not taken their last signal. */
  const busy = new Set<string>();
  const ended = new Set<string>();
  let asked = 0;
  let timeStandsStill = false;
  /** So that what is put off is not due again, however long a test takes. @default the clock on the wall, as the dispatcher's timers go */
  let storeTimeMs: number | undefined;
  const clock: Clock = {
    ...systemClock,
    after: (ms, work) => (timeStandsStill ? () => undefined : systemClock.after(ms, work)),
    monotonicMs: () => (timeStandsStill ? 0 : performance.now()),
  };

  beforeEach(async () => {
    hanging.clear();
    ailing = true;
    warnings.length = 0;
    signalled.length = 0;
    busy.clear();
    ended.clear();
    asked = 0;
    timeStandsStill = false;
    storeTimeMs = undefined;
    temporary = await makeTemporaryStore('libsql');
    store = await openAt(temporary.place, { keyring, now: () => storeTimeMs ?? Date.now() });
    looks.count = 0;
    slowDisk = undefined;
    marking = false;
    const now = () => performance.now();
    dispatcher = createDispatcher({
      inbox: {
        ...store.inbox,
        lease: async (options) => {
          looks.count += 1;
          return store.inbox.lease(options);
        },
        markDelivered: async (...marks) => {
          marking = true;
          await slowDisk;
          return store.inbox.markDelivered(...marks);
        },
      },
      matters: store.matters,
      reader: {
        facts: (flowId) => {
          asked += 1;
          const isOpen = !ended.has(flowId);
          const end = isOpen ? {} : ({ status: 'TERMINATED', state: 'parked' } as const);
          return Promise.resolve({ flowId, isOpen, hasPendingTask: busy.has(flowId), ...end } as FlowFacts);
        },
        report: () => Promise.resolve(undefined),
      },
      openSignals: createOpenSignals(),
      clock,
      unreadable: createUnreadableFlows(pino({ level: 'silent' }), now),
      drain: { within: (calls) => calls(), finish: async (inFlight) => void (await inFlight) },
      signal: async (flowId, events) => {
        signalled.push({ flowId, events });
        const code = /fails-(\d+)/.exec(flowId)?.[1];
        if (code !== undefined && ailing)
          throw Object.assign(new Error('x'), { code: Number(code), details: '', metadata: {} });
        if (flowId.includes('slow')) await new Promise<void>((resolve) => hanging.set(flowId, resolve));
        return 'delivered';
      },
      logger: pino({ level: 'warn' }, { write: (line: string) => void warnings.push(String(JSON.parse(line).msg)) }),
      nowMs: Date.now,
      // Without a nudge nothing is found by chance.
      everyMs: 3_600_000,
    });
    dispatcher.start();
  });
  afterEach(async () => {
    for (const arrive of hanging.values()) arrive();
    await dispatcher.stop();
    await store.close();
    await temporary.remove();
  });

  const receive = async (flowId: string): Promise<string> => {
    const { id } = await store.inbox.receive(anEvent({ flowId }));
    dispatcher.nudge();
    return id;
  };
  const delivered = (ids: readonly string[]) =>
    until(`${ids.length} delivered`, async () => {
      const rows = await Promise.all(ids.map((id) => store.inbox.get(id)));
      return rows.every((row) => row?.state === 'delivered');
    });

  it('keeps no flow waiting for the signal of another one that takes long', async () => {
    for (let n = 0; n < PLACES - 1; n += 1) await receive(`bridge-transfer/slow-${n}`);
    await until('slow signals', async () => hanging.size === PLACES - 1);
    const others = Array.from({ length: 40 }, (_, n) => `bridge-transfer/quick-${n}`);
    await delivered(await Promise.all(others.map(receive)));
    expect(hanging.size).toBe(PLACES - 1);
  });

  it('has four places for flows without proven events, and keeps all others for the rest', async () => {
    const forge = async (n: number) => {
      await store.inbox.receive(anEvent({ flowId: `bridge-transfer/slow-forged-${n}`, proof: null }));
      dispatcher.nudge();
    };
    for (let n = 0; n < 10; n += 1) await forge(n);
    await until('slow signals', async () => hanging.size === 4);
    const others = Array.from({ length: 40 }, (_, n) => `bridge-transfer/quick-${n}`);
    await delivered(await Promise.all(others.map(receive)));
    expect(hanging.size).toBe(4);
    // They have their turn, too.
    await until('all signals', async () => {
      for (const arrive of hanging.values()) arrive();
      return signalled.filter(({ flowId }) => flowId.includes('forged')).length === 10;
    });
  });

  it.each([
    ['a deadline', 4],
    ['a busy workflow', 8],
    ['an aborted call', 10],
  ])('puts off one flow alone where its signals end with %s', async (_what, code) => {
    storeTimeMs = Date.now();
    await receive(`bridge-transfer/fails-${code}`);
    await until('its signal', async () => signalled.length === 1);
    const others = Array.from({ length: 8 }, (_, n) => `bridge-transfer/quick-${n}`);
    // The dispatcher checks for them by itself at most once an hour.
    await delivered(await Promise.all(others.map(receive)));
    expect(signalled.filter(({ flowId }) => flowId.includes('fails'))).toHaveLength(1);
  });

  it.each([
    ['Temporal is unavailable', 1, 14],
    ['many flows fail', 5, 4],
  ])('rests for all flows where %s', async (_what, count, code) => {
    for (let n = 0; n < count; n += 1) {
      await receive(`bridge-transfer/fails-${code}-${n}`);
      await until('its signal', async () => signalled.length === n + 1);
    }
    await until('the rest', async () => warnings.includes('events cannot be delivered; trying again'));
    const { id } = await store.inbox.receive(anEvent({ flowId: 'bridge-transfer/quick' }));
    const before = looks.count;
    dispatcher.nudge();
    expect(looks.count).toBe(before);
    ailing = false;
    await delivered([id]);
  });

  it('shows a flow twenty untrusted events, and the first of each ending beside them', async () => {
    const flowId = 'bridge-transfer/flooded';
    let bodies = 0;
    const post = async (statuses: readonly string[]) => {
      for (const status of statuses)
        await store.inbox.receive(anEvent({ flowId, status, proof: null, body: { status, n: (bodies += 1) } }));
      dispatcher.nudge();
      await until('all of them', async () => (await store.inbox.waitingOf(flowId, 1)).length === 0);
    };
    const shown = () => signalled.flatMap(({ events }) => events.map(({ status }) => status));
    const noise = (count: number) => Array<string>(count).fill('SETTLING');
    await post([...noise(25), 'COMPLETED', 'COMPLETED']);
    expect(shown()).toEqual([...noise(20), 'COMPLETED']);
    await post([...noise(25), 'COMPLETED', 'REFUNDED', 'FAILED', 'refunded']);
    await post(['REFUNDED', 'FAILED', 'COMPLETED', 'SETTLING']);
    expect(shown()).toEqual([...noise(20), 'COMPLETED', 'REFUNDED', 'FAILED']);
  });

  describe('for a flow that was signalled a moment ago', () => {
    const flowId = 'bridge-transfer/r1';
    const receiveAndSignal = async (): Promise<string> => {
      const count = signalled.length + 1;
      const id = await receive(flowId);
      await until(`signal ${count}`, async () => signalled.length === count);
      return id;
    };

    it('sends the next signal at once if the flow has taken the last one', async () => {
      // Nothing that waits for time goes on.
      timeStandsStill = true;
      for (let n = 0; n < 5; n += 1) await receiveAndSignal();
      expect(signalled.map(({ events }) => events.length)).toEqual([1, 1, 1, 1, 1]);
    });

    it('merges what comes until the flow has taken the last one, and sends that as one signal', async () => {
      busy.add(flowId);
      const ids = [await receiveAndSignal()];
      for (let n = 0; n < 5; n += 1) ids.push(await receive(flowId));
      await until('the question whether the flow has taken it', async () => asked > 0);
      expect(signalled).toHaveLength(1);
      busy.delete(flowId);
      await delivered(ids);
      expect(signalled.map(({ events }) => events.map(({ id }) => id))).toEqual([ids.slice(0, 1), ids.slice(1)]);
    });
  });

  it('sends no signal to a flow that has ended, where it asks before: for untrusted events, and after a signal', async () => {
    const flowId = 'bridge-transfer/ended';
    await delivered([await receive(flowId)]);
    ended.add(flowId).add('bridge-transfer/forged');
    const late = [await receive(flowId)];
    late.push((await store.inbox.receive(anEvent({ flowId: 'bridge-transfer/forged', proof: null }))).id);
    dispatcher.nudge();
    const stateOf = async (id: string) => (await store.inbox.get(id))?.state;
    for (const id of late) await until('what becomes of it', async () => (await stateOf(id)) !== 'waiting');
    expect(await Promise.all(late.map(stateOf))).toEqual(['late', 'late']);
    expect(signalled).toHaveLength(1);
  });

  it('continues by itself as soon as a place is free again', async () => {
    const slow = await Promise.all(Array.from({ length: PLACES + 3 }, (_, n) => receive(`bridge-transfer/slow-${n}`)));
    await until('slow signals', async () => hanging.size === PLACES);
    const [first] = hanging;
    first?.[1]();
    await until('the next one', async () => hanging.size === PLACES + 1);
    for (const arrive of hanging.values()) arrive();
    await until('all', async () => hanging.size === slow.length);
    for (const arrive of hanging.values()) arrive();
    await delivered(slow);
    expect(signalled).toHaveLength(slow.length);
  });

  it('checks again for events that came while the signal of the same flow was in progress', async () => {
    const flowId = 'bridge-transfer/slow-again';
    const ids = [await receive(flowId)];
    await until('the signal', async () => hanging.size === 1);
    ids.push(await receive(flowId), await receive(flowId));
    hanging.get(flowId)?.();
    await until('the second signal', async () => signalled.length === 2);
    hanging.get(flowId)?.();
    await delivered(ids);
    expect(signalled.map(({ events }) => events.length)).toEqual([1, 2]);
  });

  it('delivers what came while the last signal was marked as delivered on a slow disk', async () => {
    let write: () => void = () => undefined;
    slowDisk = new Promise((resolve) => (write = resolve));
    const ids = [await receive('bridge-transfer/r1')];
    await until('the signal', async () => signalled.length === 1);
    ids.push(await receive('bridge-transfer/r1'));
    await until('the mark', async () => marking);
    write();
    await delivered(ids);
  });

  describe('for an event that is given to the intake', () => {
    let give: (flowId: string) => Promise<string>;
    beforeEach(async () => {
      const intake = createIntake({ inbox: store.inbox, dispatcher, matcher: { nudge: () => undefined } });
      give = async (flowId) => (await intake(anEvent({ flowId }))).id;
      await until('the first look', () => looks.count === 1);
    });

    it('need no read of the inbox if its flow is quiet', async () => {
      for (let n = 0; n < 5; n += 1) await delivered([await give(`bridge-transfer/quiet-${n}`)]);
      expect(signalled.map(({ events }) => events.length)).toEqual([1, 1, 1, 1, 1]);
      expect(looks.count).toBe(1);
    });

    it('are one for events of a flow that come together, in the order of their receipt', async () => {
      const ids = await Promise.all(Array.from({ length: 5 }, () => give('bridge-transfer/burst')));
      await delivered(ids);
      expect(signalled.map(({ events }) => events.map(({ id }) => id))).toEqual([ids]);
    });

    it('are given back if the event is a repeat, so that a hundred of them cost none', async () => {
      const intake = createIntake({ inbox: store.inbox, dispatcher, matcher: { nudge: () => undefined } });
      const repeat = { flowId: 'bridge-transfer/repeated', contentHash: 'same' };
      for (let n = 0; n < 100; n += 1) await intake(anEvent(repeat));
      for (let n = 0; n < PLACES; n += 1) await give(`bridge-transfer/slow-${n}`);
      await until('slow signals', () => hanging.size === PLACES);
    });

    it('are awaited if all are taken', async () => {
      const slow = Array.from({ length: PLACES + 2 }, (_, n) => give(`bridge-transfer/slow-${n}`));
      await Promise.all(slow);
      await until('slow signals', () => hanging.size === PLACES);
      for (const arrive of hanging.values()) arrive();
      await until('the others', () => hanging.size === PLACES + 2);
    });

    it('deliver what came while the signal of the same flow was on its way', async () => {
      const flowId = 'bridge-transfer/slow-meanwhile';
      const ids = [await give(flowId)];
      await until('the signal', () => hanging.size === 1);
      ids.push(await give(flowId), await give(flowId));
      hanging.get(flowId)?.();
      await until('the second signal', () => signalled.length === 2);
      hanging.get(flowId)?.();
      await delivered(ids);
      expect(signalled.map(({ events }) => events.length)).toEqual([1, 2]);
    });

    it('need no mark at once if nothing else comes, and leave none behind when the dispatcher stops', async () => {
      timeStandsStill = true;
      const [id] = [await give('bridge-transfer/last'), await give('bridge-transfer/other')];
      await until('the signals', () => signalled.length === 2);
      expect(marking).toBe(false);
      await dispatcher.stop();
      expect(await store.inbox.get(id)).toMatchObject({ state: 'delivered' });
    });
  });
});
