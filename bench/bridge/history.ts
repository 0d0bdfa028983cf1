import { randomUUID } from 'node:crypto';
import { startFlow } from '../../src/temporal/start-flow.js';
import { allDelivered } from '../gateway/inbox-state.js';
import type { Finding } from '../report/finding.js';
import { sendAll } from '../setup/http-load.js';
import type { Stack } from '../setup/stack.js';
import { flowIdOfTransfer, transferInput, webhook } from '../setup/transfers.js';
import { until } from '../setup/until.js';
import { sizeOfHistory } from './count-history.js';

const STATUSES = ['DEPOSIT_CONFIRMED', 'PAYMENT_SENT', 'PAYMENT_CONFIRMED', 'SETTLING', 'COMPLETED'];
/** The sandbox sends no callbacks: this test sends the five statuses. */
const SILENT = '1000.18';

/** P5: events and billable actions of a successful transfer, with its statuses one by one and all at once. */
export async function historySizes(stack: Stack): Promise<readonly Finding[]> {
  const sizeOf = async (report: (reference: string) => Promise<void>) => {
    const reference = `bench-${randomUUID()}`;
    await startFlow(stack, 'bridge-transfer', transferInput(reference, SILENT));
    const handle = stack.client.workflow.getHandle(flowIdOfTransfer(reference));
    // By its history: a query that comes during its first task would add another task to it.
    await until('the deposit', async () => {
      const { events } = await handle.fetchHistory();
      const isAnswered = events?.some((event) => event.activityTaskCompletedEventAttributes != null) === true;
      return isAnswered && events?.at(-1)?.workflowTaskCompletedEventAttributes != null;
    });
    await report(reference);
    await handle.result();
    return sizeOfHistory(stack.client, handle.workflowId);
  };
  const oneByOne = await sizeOf(async (reference) => {
    for (const status of STATUSES) {
      await sendAll(stack.url, [webhook(stack, reference, status)], 1);
      await allDelivered(stack);
    }
  });
  const burst = await sizeOf((reference) =>
    sendAll(
      stack.url,
      STATUSES.map((status) => webhook(stack, reference, status)),
      STATUSES.length,
    ),
  );
  return [
    {
      budget: 'P5',
      what: 'history events of a transfer, five callbacks one by one',
      limit: { bound: 'at most', value: 33 },
      unit: 'events',
      measured: oneByOne.events,
      figures: '',
    },
    {
      budget: 'P5',
      what: 'billable actions of it',
      limit: { bound: 'at most', value: 9 },
      unit: 'actions',
      measured: oneByOne.actions,
      figures: oneByOne.detail,
    },
    {
      budget: 'P5',
      what: 'billable actions if the five come at once',
      limit: { bound: 'at most', value: 7 },
      unit: 'actions',
      measured: burst.actions,
      figures: burst.detail,
    },
  ];
}
