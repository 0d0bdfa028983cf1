import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import type { FlowReport } from '../../src/api/flow.js';
import { newReference } from '../harness/references.js';
import { openStack, type Stack } from '../harness/stack.js';
import { transferInput } from '../harness/inputs.js';
import { untilFlow } from '../harness/reports.js';

const MINUTE_MS = 60_000;
const DEADLINE = { deadlineSeconds: 600 };

describe('a deadline that passes while all workers are down (fault 23)', () => {
  let bench: Stack;
  beforeAll(async () => {
    bench = await openStack({ time: 'skipping', worker: false, sandbox: { stepMs: 3_600_000 } });
  });
  afterEach(() => bench.terminateAll());
  afterAll(() => bench.close());

  it('completes the flow whose proven ending waits in the inbox, and parks one without it as no_settlement', async () => {
    const before = await bench.worker();
    const settled = await bench.start(transferInput(newReference('settled'), DEADLINE));
    const silent = await bench.start(transferInput(newReference('silent'), DEADLINE));
    for (const handle of [settled, silent]) await untilFlow(handle, ({ view }) => view.stage === 'tracking');
    await before.shutdown();

    const reference = settled.workflowId.slice('bridge-transfer/'.length);
    await bench.store.inbox.receive({
      id: `row-${reference}`,
      source: 'callback',
      flowId: settled.workflowId,
      reference,
      status: 'COMPLETED',
      proof: 'capability',
      contentHash: reference,
      body: { provider_reference_id: reference, status: 'COMPLETED' },
    });
    await bench.pass(11 * MINUTE_MS);
    for (const handle of [settled, silent]) expect(await hasTimerFired(handle)).toBe(true);

    await bench.worker();
    const { view, events } = (await settled.result()) as FlowReport;
    expect([view.state, events]).toEqual(['completed', { [`row-${reference}`]: 'applied' }]);
    const codes = view.timeline.map(({ code }) => code);
    expect(codes).toContain('deadline-passed');
    expect(codes).not.toContain('parked');
    const parked = await untilFlow(silent, (report) => report.view.state === 'parked');
    expect(parked.view.parked?.reason).toBe('no_settlement');
  });

  async function hasTimerFired(handle: WorkflowHandle): Promise<boolean> {
    const { events } = await handle.fetchHistory();
    return events?.some((event) => event.timerFiredEventAttributes) ?? false;
  }
});
