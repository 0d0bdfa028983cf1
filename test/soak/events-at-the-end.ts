import { deepStrictEqual } from 'node:assert/strict';
import type { WorkflowHandle } from '@temporalio/client';
import proto from '@temporalio/proto';
import type { FlowReport } from '../../src/api/flow.js';
import { inTurns } from '../../src/in-turns.js';
import { trusted } from '../harness/inputs.js';
import { newReference } from '../harness/references.js';
import { openStack, type Stack } from '../harness/stack.js';
import bankWithdrawal from '../kinds/bank-withdrawal.js';
import type { Soak } from './main.js';

const FLOWS = 200;
const AT_A_TIME = 6;
const MOST_EVENTS = 40;
const UNHANDLED_COMMAND =
  proto.temporal.api.enums.v1.WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_UNHANDLED_COMMAND;

export default {
  name: 'events-at-the-end',
  says: `fault 31: four streams of events each, while ${FLOWS} flows complete`,
  async run(report) {
    const stack = await openStack({ time: 'real', sandbox: { stepMs: 3_600_000 } });
    try {
      const numbers = Array.from({ length: FLOWS }, (_, n) => n);
      const flows = await inTurns(numbers, AT_A_TIME, () => streamed(stack));
      const sum = (count: (flow: (typeof flows)[number]) => number) =>
        flows.reduce((total, flow) => total + count(flow), 0);
      // How many there are is chance: the file of the tests holds one.
      const raced = flows.filter(({ wasRefused }) => wasRefused).length;
      report(`${sum(({ taken }) => taken)} events, all in the results; ${raced} flows whose completion was refused`);
    } finally {
      await stack.close();
    }
  },
} satisfies Soak;

/** A flow that gets events until it takes no more: there are some at each moment of its completion. */
async function streamed(stack: Stack): Promise<{ readonly taken: number; readonly wasRefused: boolean }> {
  const reference = newReference('burst');
  const handle = await stack.startFlow('bank-withdrawal', reference, bankWithdrawal.input(reference));
  await handle.executeUpdate('answer');
  const taken: string[] = [];
  const stream = async (first: string) => {
    for (let word = first; taken.length < MOST_EVENTS; word = 'PROCESSING') {
      const id = await tell(handle, word);
      if (id === undefined) return;
      taken.push(id);
    }
  };
  await Promise.all(['PENDING', 'IN_PROGRESS', 'SUCCESSFUL', 'RETRY'].map(stream));
  const { events } = (await handle.result()) as FlowReport;
  deepStrictEqual(Object.keys(events).toSorted(), taken.toSorted());
  const history = (await handle.fetchHistory()).events ?? [];
  const wasRefused = history.some(
    ({ workflowTaskFailedEventAttributes: failed }) => failed?.cause === UNHANDLED_COMMAND,
  );
  return { taken: taken.length, wasRefused };
}

/** @returns the event's id, if Temporal took it: the flow had not ended */
async function tell(handle: WorkflowHandle, word: string): Promise<string | undefined> {
  const event = trusted(word);
  try {
    await handle.signal('events', [event]);
    return event.id;
  } catch (error) {
    if ((error as Error).name === 'WorkflowNotFoundError') return undefined;
    throw error;
  }
}
