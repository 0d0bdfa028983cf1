import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createSettler, type SettlerDeps } from '../../src/gateway/dispatch/settler.js';
import { createOpenSignals } from '../../src/gateway/dispatch/open-signals.js';
import type { FlowReport } from '../../src/api/flow.js';
import type { FlowFacts } from '../../src/temporal/flow-handle.js';
import { until } from '../harness/until.js';
import { anEvent, makeTemporaryStore, type TemporaryStore } from '../store/temporary-store.js';
import type { Store } from '../../src/store/store.js';

const FLOW = 'bridge-transfer/r1';
const quiet = { debug() {}, info() {}, warn() {}, error() {} };

describe('an event that its flow took when it had already ended', () => {
  let temporary: TemporaryStore;
  let store: Store;
  const stopping: (() => Promise<void>)[] = [];
  beforeEach(async () => {
    temporary = await makeTemporaryStore('libsql');
    store = await temporary.open();
  });
  afterEach(async () => {
    for (const stop of stopping.splice(0)) await stop();
    await temporary.remove();
  });

  const run = (reader: SettlerDeps['reader'], nowMs: () => number) => {
    const settler = createSettler({
      inbox: store.inbox,
      matters: store.matters,
      reader,
      openSignals: createOpenSignals(),
      logger: quiet as never,
      duty: { isOurs: () => Promise.resolve(true) },
      drain: { within: (calls) => calls(), finish: async (inFlight) => void (await inFlight) },
      nowMs,
      everyMs: 5,
      ageMs: 0,
    });
    settler.start();
    stopping.push(() => settler.stop());
  };

  /** For a flow that completed, and whose last report, if it can be read, does not name the event. */
  const settled = async (lastWord: Pick<FlowReport, 'events'> | undefined) => {
    const { id } = await store.inbox.receive(anEvent({ flowId: FLOW, status: 'COMPLETED' }));
    await store.inbox.markDelivered(FLOW, [id]);
    const at = { nowMs: Date.parse((await store.inbox.get(id))?.deliveredAt ?? '') };
    let asked = 0;
    const reader = {
      facts: () => Promise.resolve({ flowId: FLOW, isOpen: false, state: 'completed' } as FlowFacts),
      report: () => {
        asked += 1;
        return Promise.resolve(lastWord as FlowReport | undefined);
      },
    };
    run(reader, () => at.nowMs);
    await until('the flow to be asked', () => asked > 0);
    return { at, state: async () => (await store.inbox.get(id))?.state };
  };

  it('is settled although another flow, which is asked before, fails each time', async () => {
    const failing = 'bridge-transfer/fails';
    for (const flowId of [failing, FLOW]) {
      const { id } = await store.inbox.receive(anEvent({ flowId, status: 'COMPLETED' }));
      await store.inbox.markDelivered(flowId, [id]);
    }
    let failures = 0;
    const facts = (flowId: string) => {
      if (flowId !== failing) return Promise.resolve({ flowId, isOpen: false, state: 'completed' } as FlowFacts);
      failures += 1;
      return Promise.reject(new Error('it cannot be asked'));
    };
    run({ facts, report: () => Promise.resolve({ events: {} } as FlowReport) }, () => Date.now());
    await until('it to be late', async () => (await store.inbox.list({ flowId: FLOW }))[0]?.state === 'late');
    expect(failures).toBeGreaterThan(0);
  });

  it('is listed as late at once, by the last word of its flow', async () => {
    const { state } = await settled({ events: {} });
    await until('it to be late', async () => (await state()) === 'late');
  });

  it('is listed as late after a minute if its flow is gone from Temporal', async () => {
    const { id } = await store.inbox.receive(anEvent({ flowId: FLOW, status: 'COMPLETED' }));
    await store.inbox.markDelivered(FLOW, [id]);
    const at = { nowMs: Date.parse((await store.inbox.get(id))?.deliveredAt ?? '') };
    let asked = 0;
    const facts = () => Promise.resolve(void (asked += 1));
    run({ facts, report: () => Promise.reject(new Error('there is no flow')) }, () => at.nowMs);
    await until('the flow to be asked', () => asked > 0);
    expect((await store.inbox.get(id))?.state).toBe('delivered');
    at.nowMs += 61_000;
    await until('it to be late', async () => (await store.inbox.get(id))?.state === 'late');
  });

  it('is listed as late after a minute if the last report cannot be read', async () => {
    const { at, state } = await settled(undefined);
    expect(await state()).toBe('delivered');
    at.nowMs += 61_000;
    await until('it to be late', async () => (await state()) === 'late');
  });
});
