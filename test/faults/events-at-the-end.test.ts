import type { WorkflowHandle } from '@temporalio/client';
import proto from '@temporalio/proto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { FlowReport } from '../../src/api/flow.js';
import { startCardGateway, type CardGateway } from '../flows/cards/card-gateway.js';
import { startHoldingWorker, type HoldingWorker } from './holding-worker.js';
import { newReference } from '../harness/references.js';
import { openStack, type Stack } from '../harness/stack.js';
import { reportOf, untilFlow } from '../harness/reports.js';
import { trusted } from '../harness/inputs.js';
import { flowInput } from '../harness/kind.js';
import { KINDS, type NamedKind } from '../harness/kinds.js';
import bankWithdrawal from '../kinds/bank-withdrawal.js';

/** Every kind without a lookup. */
const WITHOUT_LOOKUP = KINDS.filter(({ hasLookup }) => !hasLookup);
const UNHANDLED_COMMAND =
  proto.temporal.api.enums.v1.WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_UNHANDLED_COMMAND;
const FLOWS = 8;
const quiet = { info() {}, warn() {}, error() {}, debug() {} };

const BRIDGE_ENDS = [
  ['COMPLETED', 'completed'],
  ['REFUNDED', 'refunded'],
] as const;
const PAYMENT_ENDS = [
  ['SUCCESSFUL', 'completed'],
  ['FAILED', 'failed'],
  ['COMPLETED', 'completed'],
  ['EXPIRED', 'failed'],
  ['REVERSED', 'refunded'],
] as const;

async function startOn(
  bench: Stack,
  cards: CardGateway,
  one: NamedKind,
  word: string,
  more: Record<string, unknown> = {},
): Promise<WorkflowHandle> {
  const reference = newReference(word);
  const card = 'card' in one.input(reference) ? cards.keep() : {};
  return bench.startFlow(one.kind, reference, { ...flowInput(one, reference), ...card, ...more });
}

describe("events that come while Temporal is about to get a flow's completion (fault 31)", () => {
  let bench: Stack;
  let worker: HoldingWorker;
  beforeAll(async () => {
    // The service accepts, and only the test sends events.
    bench = await openStack({ time: 'real', worker: false, sandbox: { stepMs: 3_600_000 } });
    worker = await startHoldingWorker(bench);
  });
  afterAll(async () => {
    await worker.shutdown();
    await bench.close();
  });

  test("make Temporal refuse the completion once, and are all in the flow's result", async () => {
    const flows = await Promise.all(
      Array.from({ length: FLOWS }, async () => {
        const reference = newReference('burst');
        const handle = await bench.startFlow('bank-withdrawal', reference, bankWithdrawal.input(reference));
        await handle.executeUpdate('answer');
        const taken: string[] = [];
        const signalEvent = async (word: string) => {
          const event = trusted(word);
          await handle.signal('events', [event]);
          taken.push(event.id);
        };
        const words = ['PROCESSING', 'RETRY', 'SUCCESSFUL', 'PENDING'];
        worker.beforeCompletion(handle.workflowId, () => Promise.all(words.map(signalEvent)));
        await Promise.all(['PENDING', 'IN_PROGRESS', 'SUCCESSFUL', 'RETRY'].map(signalEvent));
        const { events: results } = (await handle.result()) as FlowReport;
        const history = (await handle.fetchHistory()).events ?? [];
        const refused = history.filter(
          ({ workflowTaskFailedEventAttributes: failed }) => failed?.cause === UNHANDLED_COMMAND,
        );
        return { taken: taken.toSorted(), handled: Object.keys(results).toSorted(), refused: refused.length };
      }),
    );
    for (const { taken, handled, refused } of flows) {
      expect(refused).toBe(1);
      expect(taken).toHaveLength(8);
      expect(handled).toEqual(taken);
    }
  });
});

describe('a trusted event past the deadline (fault 33)', () => {
  const minuteMs = 60_000;
  let bench: Stack;
  let cards: CardGateway;
  beforeAll(async () => {
    bench = await openStack({ time: 'skipping', sandbox: { stepMs: 3_600_000 } });
    cards = await startCardGateway(bench, quiet);
  });
  afterAll(async () => {
    await cards.close();
    await bench.close();
  });

  const turns = WITHOUT_LOOKUP.flatMap((one) =>
    (one.kind === 'bridge-transfer' ? BRIDGE_ENDS : PAYMENT_ENDS).map(([word, state]) => ({ ...one, word, state })),
  );

  test.each(turns)('of status $word ends a parked $kind as $state', async ({ word, state, ...one }) => {
    const handle = await startOn(bench, cards, one, 'overdue', { deadlineSeconds: 600 });
    await untilFlow(handle, ({ view }) => view.stage === 'tracking');
    await bench.pass(11 * minuteMs);
    const { view } = await untilFlow(handle, (report) => report.view.state === 'parked');
    expect(view.parked?.reason).toBe('no_settlement');
    await handle.signal('events', [trusted(word)]);
    await handle.result().catch(() => undefined);
    expect((await reportOf(handle)).view.state).toBe(state);
  });
});
