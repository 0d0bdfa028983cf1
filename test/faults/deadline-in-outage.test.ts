import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import { until } from '../gateway/setup/until.js';
import { endings, openRig, PATIENCE_MS, untilShown, type Rig } from './rig.js';
import { newReference, transferInput } from './transfers.js';

const N = 20;
const WITHOUT = 10;
/** Time enough to get all flows to their wait before it, on a busy machine, too. */
const DEADLINE_SECONDS = 15;

describe('a deadline that passes while all workers are down', () => {
  let rig: Rig;
  beforeAll(async () => {
    // No gateway: what is in the inbox stays `waiting`, as it does while Temporal cannot be reached.
    rig = await openRig({ gateway: false, sandbox: { stepMs: 3_600_000 } });
  });
  afterAll(() => rig.close());

  it(`finds the proven ending that waits in the inbox: ${N} of ${N} completed, and ${WITHOUT} without one parked, not failed`, async () => {
    const worker = await rig.worker();
    const settled = await start('settled', N);
    const silent = await start('silent', WITHOUT);
    const handles = [...settled, ...silent].map(({ handle }) => handle);
    await untilShown(handles, 'accepted', ({ view }) => view.stage === 'tracking');
    await worker.kill();

    await Promise.all(settled.map(({ reference, handle }) => receiveCompleted(reference, handle.workflowId)));
    for (const handle of handles) await until('the deadline to pass', () => hasTimerFired(handle), PATIENCE_MS);
    await rig.worker();

    const reports = await endings(settled.map(({ handle }) => handle));
    expect(new Set(reports.map(({ view }) => view.state))).toEqual(new Set(['completed']));
    for (const { events, view } of reports) {
      expect(events).toEqual({ [`row-${view.reference}`]: 'applied' });
      expect(view.timeline.map(({ detail }) => detail)).toContain(
        'the deadline passed; looking at the inbox once more',
      );
      expect(view.timeline.filter(({ detail }) => detail.startsWith('parked'))).toEqual([]);
    }
    const unsettled = silent.map(({ handle }) => handle);
    const parked = await untilShown(unsettled, 'parked', ({ view }) => view.parked);
    expect(new Set(parked.map(({ reason }) => reason))).toEqual(new Set(['no_settlement']));
  }, 90_000);

  async function start(word: string, count: number): Promise<{ reference: string; handle: WorkflowHandle }[]> {
    return Promise.all(
      Array.from({ length: count }, async () => {
        const reference = newReference(word);
        return { reference, handle: await rig.start(transferInput(reference, { deadlineSeconds: DEADLINE_SECONDS })) };
      }),
    );
  }

  async function receiveCompleted(reference: string, flowId: string): Promise<void> {
    const body = { provider_reference_id: reference, status: 'COMPLETED' };
    const labels = { source: 'callback', flowId, reference, status: 'COMPLETED', proof: 'capability' } as const;
    await rig.store.inbox.receive({ id: `row-${reference}`, ...labels, contentHash: reference, body });
  }

  async function hasTimerFired(handle: WorkflowHandle): Promise<boolean> {
    const { events } = await handle.fetchHistory();
    return events?.some((event) => event.timerFiredEventAttributes) ?? false;
  }
});
