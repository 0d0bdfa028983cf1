import { setTimeout as sleep } from 'node:timers/promises';
import type { WorkflowHandle } from '@temporalio/client';
import proto from '@temporalio/proto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { FlowEvent, FlowReport } from '../../src/flows/messages.js';
import { STATE_ATTRIBUTE, type FlowKind } from '../../src/flows/vocabulary.js';
import { cardDepositInput } from '../flows/cards/card-bench.js';
import { startCardGateway, type CardGateway } from '../flows/cards/card-gateway.js';
import { newReference, openBench, reportOf, transferInput, trusted, until, type Bench } from '../workflows/bench.js';
import { inTurns } from './in-turns.js';

const KINDS = ['bridge-transfer', 'bank-checkout', 'card-deposit', 'bank-withdrawal'] as const satisfies FlowKind[];
const UNHANDLED_COMMAND =
  proto.temporal.api.enums.v1.WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_UNHANDLED_COMMAND;
const quiet = { info() {}, warn() {}, error() {}, debug() {} };

const withdrawal = (referenceId: string) => ({
  referenceId,
  bankDetails: { bankCode: '0250', accountNumber: '62000000001' },
  currency: 'ZAR',
  amount: '250.50',
});
const checkout = (referenceId: string) => ({
  referenceId,
  fullName: 'Canary Customer',
  phoneNumber: '+27821234567',
  paymentMethod: 'CARD',
  currency: 'ZAR',
  amount: '250.50',
});

describe('events around the end of a flow', () => {
  let bench: Bench;
  let cards: CardGateway;
  beforeAll(async () => {
    // The service accepts, and nobody says anything but the test.
    // A hundred flows begin at once: a call that waits for its turn is not lost.
    bench = await openBench({ time: 'real', sandbox: { stepMs: 3_600_000 }, timeoutMs: 30_000 });
    cards = await startCardGateway(bench, quiet);
  });
  afterAll(async () => {
    await cards.close();
    await bench.close();
  });

  /** Of every kind that nothing can be looked up for. */
  const inputs: Readonly<Record<(typeof KINDS)[number], (reference: string) => Record<string, unknown>>> = {
    'bridge-transfer': transferInput,
    'bank-checkout': checkout,
    'card-deposit': (reference) => cardDepositInput(reference, cards.keep()),
    'bank-withdrawal': withdrawal,
  };
  const start = async (
    kind: (typeof KINDS)[number],
    word: string,
    more: Record<string, unknown>,
  ): Promise<WorkflowHandle> => {
    const reference = newReference(word);
    return bench.startFlow(kind, reference, { ...inputs[kind](reference), ...more });
  };

  test('fault 31: streams of events while it completes, n = 40 flows: all that Temporal took are in the result', async () => {
    const flows = await inTurns(
      Array.from({ length: 40 }, (_, turn) => turn),
      6,
      async (): Promise<{ taken: number; handled: number; raced: boolean }> => {
        const handle = await start('bank-withdrawal', 'burst', {});
        await handle.executeUpdate('answer');
        const taken: string[] = [];
        // Until nothing is taken any more: so there are some at each moment of the completion.
        const stream = async (first: string) => {
          for (let word = first; taken.length < 40; word = 'PROCESSING') {
            const id = await tell(handle, trusted(word));
            if (id === undefined) return;
            taken.push(id);
          }
        };
        await Promise.all(['PENDING', 'IN_PROGRESS', 'SUCCESSFUL', 'RETRY'].map(stream));
        const { events: fates } = (await handle.result()) as FlowReport;
        const history = (await handle.fetchHistory()).events ?? [];
        return {
          taken: taken.length,
          handled: taken.filter((id) => id in fates).length,
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

  test('fault 33: an event past the deadline, n = 25 of each of the four kinds without lookup: resolves the parked flow, 100 %', async () => {
    const turns = KINDS.flatMap((kind) => {
      const words = kind === 'bridge-transfer' ? BRIDGE_ENDS : PAYMENT_ENDS;
      return Array.from({ length: 25 }, (_, turn) => ({ kind, end: words[turn % words.length] ?? words[0] }));
    });
    // A few at a time, since a card is kept for seconds only.
    const begun = await inTurns(turns, 8, async (turn) => {
      const handle = await start(turn.kind, 'overdue', { timeScale: 0.002, ...DEADLINE });
      await until(handle, ({ view }) => view.stage === 'tracking' || view.state === 'parked');
      return { ...turn, handle };
    });
    const ends = await Promise.all(
      begun.map(async ({ kind, end: [word, state], handle }) => {
        await parks(handle);
        expect((await reportOf(handle)).view.parked?.reason).toBe('no_settlement');
        expect(await tell(handle, trusted(word))).toBeDefined();
        await handle.result().catch(() => undefined);
        const end = await shownState(handle);
        return end === state ? 'resolved' : `${kind} by ${word}: ${end}`;
      }),
    );
    expect(ends).toEqual(turns.map(() => 'resolved'));
  }, 120_000);
});

/** Twenty seconds: all of them must have been sent by then. */
const DEADLINE = { deadlineSeconds: 10_000 };
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

/** As Temporal alone knows it: no worker is asked. */
async function shownState(handle: WorkflowHandle): Promise<string | undefined> {
  const { searchAttributes } = await handle.describe();
  return (searchAttributes as Record<string, string[] | undefined>)[STATE_ATTRIBUTE]?.[0];
}

/** Asks seldom: a group of flows that wait for their deadline leaves the machine to others. */
async function parks(handle: WorkflowHandle): Promise<void> {
  const endsAtMs = performance.now() + 60_000;
  while ((await shownState(handle)) !== 'parked') {
    if (performance.now() > endsAtMs) throw new Error(`${handle.workflowId} does not park`);
    await sleep(300);
  }
}

/** @returns its id, where Temporal took it: the flow had not ended */
async function tell(handle: WorkflowHandle, event: FlowEvent): Promise<string | undefined> {
  try {
    await handle.signal('events', [event]);
    return event.id;
  } catch (error) {
    if ((error as Error).name === 'WorkflowNotFoundError') return undefined;
    throw error;
  }
}
