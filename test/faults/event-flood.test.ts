import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { flood, MOST_SIGNALS_PER_RUN } from './flood.js';
import { newReference } from '../harness/references.js';
import { openStack, type Stack } from '../harness/stack.js';
import { transferInput, trusted } from '../harness/inputs.js';
import { untilFlow } from '../harness/reports.js';

/** More signals than one run takes. */
const EVENTS = 250;

describe('a flow that gets 250 events (fault 32)', () => {
  let bench: Stack;
  beforeAll(async () => {
    bench = await openStack({ time: 'real', sandbox: { stepMs: 3_600_000 } });
  });
  afterAll(() => bench.close());

  test(`takes each once, in runs of at most ${MOST_SIGNALS_PER_RUN} signals, and completes`, async () => {
    const { workflowId } = await bench.start(transferInput(newReference('flood')));
    const latest = bench.client.workflow.getHandle(workflowId);
    await untilFlow(latest, ({ view }) => view.stage === 'tracking');
    const { state, taken, signalsByRun } = await flood(bench.client, workflowId, {
      events: EVENTS,
      // As the gateway does, which sends no signal before the flow had time for the last one.
      burst: 10,
      send: (status) => latest.signal('events', [trusted(status)]),
      taken: async (sent) => void (await untilFlow(latest, ({ events }) => Object.keys(events).length === sent)),
    });
    expect([state, taken]).toEqual(['completed', EVENTS]);
    expect(signalsByRun.length).toBeGreaterThanOrEqual(2);
    expect(Math.max(...signalsByRun)).toBeLessThanOrEqual(MOST_SIGNALS_PER_RUN);
    expect(signalsByRun.reduce((sum, count) => sum + count, 0)).toBe(EVENTS);
  });
});
