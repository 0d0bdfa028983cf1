import type { WorkflowHandle } from '@temporalio/client';
import proto from '@temporalio/proto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { FlowEvent, FlowReport } from '../../src/protocol/messages.js';
import { startCardGateway, type CardGateway } from '../flows/cards/card-gateway.js';
import { inTurns } from './in-turns.js';
import { newReference } from '../harness/references.js';
import { openStack, type Stack } from '../harness/stack.js';
import { reportOf, untilFlow } from '../harness/reports.js';
import { trusted } from '../harness/inputs.js';
import { flowInput } from '../harness/kind.js';
import { KINDS, type NamedKind } from '../harness/kinds.js';
import bankWithdrawal from '../kinds/bank-withdrawal.js';

/** Every kind without a lookup. */
const TOLD = KINDS.filter(({ hasLookup }) => !hasLookup);
const UNHANDLED_COMMAND =
  proto.temporal.api.enums.v1.WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_UNHANDLED_COMMAND;
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

describe('events around the end of a flow', () => {
  let bench: Stack;
  beforeAll(async () => {
    // The service accepts, and only the test sends events.
    bench = await openStack({ time: 'real', sandbox: { stepMs: 3_600_000 } });
  });
  afterAll(() => bench.close());

  const burst = () => {
    const reference = newReference('burst');
    return bench.startFlow('bank-withdrawal', reference, bankWithdrawal.input(reference));
  };

  test('fault 31: streams of events while it completes, n = 40 flows: all that Temporal took are in the result', async () => {
    const flows = await inTurns(
      Array.from({ length: 40 }, (_, turn) => turn),
      6,
      async (): Promise<{ taken: number; handled: number; raced: boolean }> => {
        const handle = await burst();
        await handle.executeUpdate('answer');
        const taken: string[] = [];
        // Until the flow takes no more: so there are some at each moment of the completion.
        const stream = async (first: string) => {
          for (let word = first; taken.length < 40; word = 'PROCESSING') {
            const id = await tell(handle, trusted(word));
            if (id === undefined) return;
            taken.push(id);
          }
        };
        await Promise.all(['PENDING', 'IN_PROGRESS', 'SUCCESSFUL', 'RETRY'].map(stream));
        const { events: results } = (await handle.result()) as FlowReport;
        const history = (await handle.fetchHistory()).events ?? [];
        return {
          taken: taken.length,
          handled: taken.filter((id) => id in results).length,
          // Temporal refused a completion, because an event had come meanwhile.
          raced: history.some(({ workflowTaskFailedEventAttributes: failed }) => failed?.cause === UNHANDLED_COMMAND),
        };
      },
    );
    const sum = (of: (flow: (typeof flows)[number]) => number) => flows.reduce((total, flow) => total + of(flow), 0);
    expect(sum(({ handled }) => handled)).toBe(sum(({ taken }) => taken));
    // Else it was no test of this.
    expect(sum(({ taken }) => taken)).toBeGreaterThan(40 * 4);
    expect(flows.filter(({ raced }) => raced).length).toBeGreaterThanOrEqual(5);
  }, 120_000);
});

describe('an event past the deadline', () => {
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

  const turns = TOLD.flatMap((one) =>
    (one.kind === 'bridge-transfer' ? BRIDGE_ENDS : PAYMENT_ENDS).map(([word, state]) => ({ ...one, word, state })),
  );

  test.each(turns)('fault 33: resolves a parked $kind by $word as $state', async ({ word, state, ...one }) => {
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

/** @returns its id, if Temporal took it: the flow had not ended */
async function tell(handle: WorkflowHandle, event: FlowEvent): Promise<string | undefined> {
  try {
    await handle.signal('events', [event]);
    return event.id;
  } catch (error) {
    if ((error as Error).name === 'WorkflowNotFoundError') return undefined;
    throw error;
  }
}
