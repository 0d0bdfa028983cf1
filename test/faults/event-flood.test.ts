import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { callbackCapability } from '../../src/flows/capability.js';
import type { FlowReport } from '../../src/flows/messages.js';
import { until } from '../gateway/setup/until.js';
import { openRig, untilShown, type Rig } from './rig.js';
import { newReference, transferInput } from './transfers.js';

const EVENTS = 10_001;
const AT_ONCE = 50;
const MOST_SIGNALS_PER_RUN = 200;

describe(`a flow that hears ${EVENTS} events`, () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await openRig({ sandbox: { stepMs: 3_600_000 } });
    await rig.worker();
  }, 60_000);
  afterAll(() => rig.close());

  test(`fault 32: takes each of ${EVENTS} once, in runs of at most ${MOST_SIGNALS_PER_RUN} signals, and ends`, async () => {
    const reference = newReference('flood');
    const handle = await rig.start(transferInput(reference));
    await untilShown([handle], 'accepted', ({ view }) => view.stage === 'tracking');
    const path = `/callbacks/${handle.workflowId}/${callbackCapability(rig.store, handle.workflowId)}`;
    const send = async (body: Record<string, unknown>) => {
      const answer = await fetch(rig.gatewayUrl + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ provider_reference_id: reference, ...body }),
      });
      expect(answer.status).toBe(200);
    };
    const waiting = Array.from({ length: EVENTS - 1 }, (_, n) => n).values();
    const sender = async () => {
      for (const n of waiting) await send({ status: 'PAYMENT_SENT', n });
    };
    await Promise.all(Array.from({ length: AT_ONCE }, sender));
    await until('all to be delivered', async () => (await openRows()) === 0, 90_000);
    await send({ status: 'COMPLETED' });

    const latest = rig.client.workflow.getHandle(handle.workflowId);
    const { view, events } = (await latest.result()) as FlowReport;
    expect(view.state).toBe('completed');
    expect(Object.keys(events)).toHaveLength(EVENTS);
    const signals = await signalsByRun(handle.workflowId);
    expect(Math.max(...signals)).toBeLessThanOrEqual(MOST_SIGNALS_PER_RUN);
    expect(signals.reduce((sum, count) => sum + count, 0)).toBeGreaterThanOrEqual(EVENTS / 50);
    await until(
      'every row to be settled',
      async () => {
        const { byState } = await rig.store.inbox.counts();
        return byState.applied + byState.duplicate === EVENTS;
      },
      90_000,
    );
  }, 300_000);

  const openRows = async () => (await rig.store.inbox.counts()).byState.waiting;

  async function signalsByRun(workflowId: string): Promise<readonly number[]> {
    const counts: number[] = [];
    for await (const { runId } of rig.client.workflow.list({ query: `WorkflowId = '${workflowId}'` })) {
      const { events } = await rig.client.workflow.getHandle(workflowId, runId).fetchHistory();
      counts.push(events?.filter((event) => event.workflowExecutionSignaledEventAttributes).length ?? 0);
    }
    return counts;
  }
});
