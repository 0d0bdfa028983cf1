import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { InboxRow } from '../../src/protocol/events.js';
import type { FlowFacts } from '../../src/temporal/flow-handle.js';
import { anEvent, makeTemporaryStore, type TemporaryStore } from '../store/temporary-store.js';
import { delivering, FLOW, MINUTE_MS, OPEN, type Delivering } from './setup/delivering.js';

const DAY_MS = 24 * 60 * MINUTE_MS;
const COMPLETED: Partial<FlowFacts> = { isOpen: false, hasPendingTask: false, status: 'COMPLETED', state: 'completed' };

let temporary: TemporaryStore;
let batch: Delivering;
beforeEach(async () => {
  temporary = await makeTemporaryStore('libsql');
  batch = await delivering(temporary);
});
afterEach(() => temporary.remove());

/** Whether the flow is leased again exactly then. */
const isDueIn = async (ms: number) => {
  temporary.clock.advance(ms - 1);
  expect(await batch.leased()).toBeUndefined();
  temporary.clock.advance(1);
  expect(await batch.leased()).toBeDefined();
};

describe('events for an open flow', () => {
  it('are one signal in their order, without a question before it, and are to be marked as delivered', async () => {
    const { came, deliver, signals, asked, openSignals, states } = batch;
    const ids = [await came({ status: 'SETTLING' }), await came({ status: 'COMPLETED' })];
    expect(await deliver()).toEqual({ signalled: ids });
    expect(asked).toEqual(['signal']);
    expect(signals).toMatchObject([{ flowId: FLOW, events: [{ id: ids[0], trusted: true }, { id: ids[1] }] }]);
    expect(openSignals.has(FLOW)).toBe(true);
    expect(await states(...ids)).toEqual(['waiting', 'waiting']);
  });

  it('are sent though their body names another flow than their path: the flow sees the difference', async () => {
    const { came, deliver, signals } = batch;
    const [foreign, ours] = [await came({ body: { reference_id: 'another', status: 'COMPLETED' } }), await came()];
    expect(await deliver()).toEqual({ signalled: [foreign, ours] });
    expect(signals[0]?.events.map(({ facts }) => facts['reference'])).toEqual(['another', undefined]);
  });

  it('are counted with the seconds since they came, and with none if the clock was set back', async () => {
    const { came, deliver, lags } = batch;
    await came();
    temporary.clock.advance(2_500);
    await came();
    temporary.clock.advance(500);
    await deliver({ nowMs: () => temporary.clock.now() - 1_000 });
    expect(lags).toEqual([2, 0]);
  });

  it('are sent after a question if all of them are untrusted, also while it has a task, and without one if any is trusted', async () => {
    const { came, deliver, asked, flow, store } = batch;
    flow.facts = [{ ...OPEN, hasPendingTask: true }];
    const untrusted = await came({ proof: null });
    expect(await deliver()).toEqual({ signalled: [untrusted] });
    expect(asked.splice(0)).toEqual(['facts', 'signal']);
    await store.inbox.markDelivered(FLOW, [untrusted]);
    batch.openSignals.taken(FLOW);

    const mixed = [await came({ proof: null }), await came()];
    expect(await deliver()).toEqual({ signalled: mixed });
    expect(asked).toEqual(['signal']);
  });

  it('wait a moment, twice as long each time, while it has not taken its last signal; then they are sent', async () => {
    const { came, deliver, asked, flow, openSignals } = batch;
    const id = await came();
    openSignals.add(FLOW);
    flow.facts = [{ ...OPEN, hasPendingTask: true }];
    expect(await deliver({ deferrals: 2 })).toEqual({ dueInMs: 200 });
    await isDueIn(200);
    temporary.clock.advance(10_000);
    flow.facts = [OPEN];
    expect(await deliver()).toEqual({ signalled: [id] });
    expect(asked).toEqual(['facts', 'facts', 'signal']);
  });

  it('wait a moment if it continued as new between the signal and the question', async () => {
    const { came, deliver, asked, flow, states } = batch;
    const id = await came();
    flow.outcome = 'not-found';
    expect(await deliver({ deferrals: 1 })).toEqual({ dueInMs: 100 });
    expect(asked).toEqual(['signal', 'facts']);
    expect(await states(id)).toEqual(['waiting']);
    expect(batch.openSignals.has(FLOW)).toBe(false);
    await isDueIn(100);
  });
});

describe('events for a flow that does not exist', () => {
  beforeEach(() => {
    batch.flow.facts = [undefined];
    batch.flow.outcome = 'not-found';
  });

  it('are unmatched after one look, proven or not, and use no further call', async () => {
    const { came, deliver, asked, states, leased } = batch;
    const forged = await came({ proof: null });
    expect(await deliver()).toEqual({ dueInMs: 0 });
    expect(asked.splice(0)).toEqual(['facts']);
    expect(await states(forged)).toEqual(['unmatched']);

    const proven = [await came(), await came({ source: 'webhook' }), await came({ source: 'settlement' })];
    expect(await deliver()).toEqual({ dueInMs: 0 });
    expect(asked).toEqual(['signal', 'facts']);
    expect(new Set(await states(...proven))).toEqual(new Set(['unmatched']));
    temporary.clock.advance(DAY_MS);
    expect(await leased()).toBeUndefined();
  });

  it('are sent to it once it has started', async () => {
    const { came, deliver, flow, signals, store } = batch;
    const id = await came();
    await deliver();
    flow.facts = [OPEN];
    flow.outcome = 'delivered';
    await store.inbox.releaseWaiting(FLOW);
    expect(await deliver()).toEqual({ signalled: [id] });
    expect(signals.at(-1)?.events.map((event) => event.id)).toEqual([id]);
  });
});

describe('events for a flow that has ended', () => {
  beforeEach(() => {
    batch.flow.facts = [COMPLETED];
    batch.flow.outcome = 'not-found';
  });

  it('get the result that its report names; the others are late, with an alarm if one contradicts its end', async () => {
    const { came, deliver, flow, asked, states, matters, alarms } = batch;
    const [applied, agreeing, contradicting, untrusted] = [
      await came({ status: 'COMPLETED' }),
      await came({ status: 'COMPLETED' }),
      await came({ status: 'FAILED' }),
      await came({ status: 'FAILED', proof: null }),
    ];
    flow.report = { events: { [applied]: 'applied' } };
    expect(await deliver()).toEqual({ dueInMs: 0 });
    expect(asked).toEqual(['signal', 'facts', 'report']);
    expect(await states(applied, agreeing, contradicting, untrusted)).toEqual(['applied', 'late', 'late', 'late']);
    expect(await matters()).toEqual([{ kind: 'late_event_contradicts', flowId: FLOW, eventId: contradicting }]);
    expect(alarms()).toEqual([{ alarm: 'late_event_contradicts', event: contradicting }]);
  });

  it('that are all in its report are not late, and those of a later batch are asked for again', async () => {
    const { came, deliver, flow, states, store } = batch;
    const id = await came({ status: 'COMPLETED' });
    flow.report = { events: { [id]: 'duplicate', 'event-of-another': 'applied' } };
    const settled: string[] = [];
    const settle = store.inbox.settle.bind(store.inbox);
    Object.assign(batch.deps.inbox, {
      settle: (verdicts: Parameters<typeof settle>[0]) => {
        settled.push(...verdicts.map((verdict) => `${verdict.id === id ? 'it' : verdict.id} ${verdict.state}`));
        return settle(verdicts);
      },
    });
    expect(await deliver()).toEqual({ dueInMs: 0 });
    expect(settled).toEqual(['it duplicate']);
    expect(await states(id)).toEqual(['duplicate']);
  });

  it('wait while its report cannot be read, unless it was terminated: then they are late at once', async () => {
    const { came, deliver, flow, states } = batch;
    const id = await came({ status: 'COMPLETED' });
    expect(await deliver({ deferrals: 2 })).toEqual({ dueInMs: 4_000 });
    expect(await states(id)).toEqual(['waiting']);
    await isDueIn(4_000);
    temporary.clock.advance(10_000);
    flow.facts = [{ ...COMPLETED, status: 'TERMINATED', state: 'parked' }];
    expect(await deliver()).toEqual({ dueInMs: 0 });
    expect(await states(id)).toEqual(['late']);
  });

  it('get the results of its report although it was terminated', async () => {
    const { came, deliver, flow, states } = batch;
    const id = await came({ status: 'COMPLETED' });
    flow.facts = [{ ...COMPLETED, status: 'TERMINATED', state: 'parked' }];
    flow.report = { events: { [id]: 'applied' } };
    await deliver();
    expect(await states(id)).toEqual(['applied']);
  });

  it('are no signal to it if they are untrusted', async () => {
    const { came, deliver, flow, asked, states } = batch;
    flow.report = { events: {} };
    const id = await came({ proof: null });
    expect(await deliver()).toEqual({ dueInMs: 0 });
    expect(asked).toEqual(['facts', 'report']);
    expect(await states(id)).toEqual(['late']);
  });
});

describe('events that must not reach their flow', () => {
  const unreadable = (id: string, isBroken: boolean): InboxRow =>
    ({ ...anEvent({ id, flowId: FLOW }), unreadable: 'closed', ...(isBroken ? { isBroken } : {}) }) as never;

  it('hold all of its events back ten seconds at a time while a key is missing', async () => {
    const { came, deliver, asked, states } = batch;
    const id = await came();
    expect(await deliver({ rows: [unreadable(id, false)] })).toEqual({ dueInMs: 10_000 });
    expect([asked, await states(id)]).toEqual([[], ['waiting']]);
    await isDueIn(10_000);
  });

  it('are quarantined if they are damaged, with an alarm and a matter each, and the others are due at once', async () => {
    const { came, deliver, asked, states, matters, alarms } = batch;
    const [damaged, other] = [await came(), await came()];
    expect(await deliver({ rows: [unreadable(damaged, true)] })).toEqual({ dueInMs: 0 });
    expect(await states(damaged, other)).toEqual(['quarantined', 'waiting']);
    expect(await matters()).toEqual([{ kind: 'event_quarantined', flowId: FLOW, eventId: damaged }]);
    expect(alarms()).toEqual([{ alarm: 'event_quarantined', event: damaged }]);
    expect(asked).toEqual([]);
    expect(await deliver()).toEqual({ signalled: [other] });
  });

  it('are unmatched if this version has no flow of their kind', async () => {
    const { came, leased, deliver, asked, states } = batch;
    const id = await came({ flowId: 'of-tomorrow/r1' });
    const rows = (await leased('of-tomorrow/r1'))?.rows ?? [];
    expect(rows).toHaveLength(1);
    await came();
    await deliver({ rows, flowId: 'of-tomorrow/r1' });
    expect([asked, await states(id)]).toEqual([[], ['unmatched']]);
  });

  it('are beyond twenty untrusted ones, also of several batches; trusted ones are sent with the rest', async () => {
    const { came, deliver, store, signals, states } = batch;
    const post = async (count: number, status: string) => {
      const ids: string[] = [];
      for (let n = 0; n < count; n += 1) ids.push(await came({ status, proof: null }));
      return ids;
    };
    const first = await post(15, 'SETTLING');
    expect(await deliver()).toEqual({ signalled: first });
    await store.inbox.markDelivered(FLOW, first);
    const second = await post(6, 'SETTLING');
    const ends = [...(await post(2, 'COMPLETED')), await came({ status: 'COMPLETED' })];
    const wanted = [...second.slice(0, 5), ends[0], ends[2]];
    expect(await deliver()).toEqual({ signalled: wanted });
    expect(signals[1]?.events.map(({ id }) => id)).toEqual(wanted);
    expect(await states(second[5] ?? '', ends[1] ?? '')).toEqual(['unverified', 'unverified']);
  });

  it('are not sent at all if nothing else came: they are due at once', async () => {
    const { came, deliver, store, asked } = batch;
    const ids: string[] = [];
    for (let n = 0; n < 20; n += 1) ids.push(await came({ status: 'SETTLING', proof: null }));
    await store.inbox.markDelivered(FLOW, ids);
    await came({ status: 'SETTLING', proof: null });
    expect(await deliver()).toEqual({ dueInMs: 0 });
    expect(asked).toEqual([]);
  });
});
