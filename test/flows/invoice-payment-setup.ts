import type { WorkflowHandle } from '@temporalio/client';
import type { FlowView } from '../../src/api/flow.js';
import { trusted } from '../harness/inputs.js';
import { newReference } from '../harness/references.js';
import { until } from '../harness/until.js';
import { entriesOf, untilFlow } from '../harness/reports.js';
import { type Stack, openStack } from '../harness/stack.js';

/** Waits of Towline take a hundredth of their time. Real time, since it can be shared: flows here end by themselves. */
const TIME_SCALE = 0.01;
/** Two seconds, scaled: for flows that are to reach their deadline. */
export const SOON = { deadlineSeconds: 200 };
export const mobileMoney = { accountName: 'Canary Payer', phoneNumber: '+254712345678', providerNetwork: 'MPESA' };
export const bank = { accountName: 'Canary Payee', accountNumber: '0012345678', bankCode: '0250', country: 'ZAF' };
export const ONCE = { generated: 1, paid: 1 };
export const UNPAID = { generated: 1, paid: 0 };

export interface Started {
  readonly reference: string;
  readonly handle: WorkflowHandle;
}

/** What the tests of invoice payments do with a bench of their own. */
export async function openInvoiceBench() {
  const bench: Stack = await openStack({ time: 'skipping', sandbox: { stepMs: 20 } });

  const startFlow = (reference: string, input: Record<string, unknown>) =>
    bench.startFlow('invoice-payment', reference, { timeScale: TIME_SCALE, ...input });

  /** An invoice over 1,000.50 KES, without a payment unless `more` has one. */
  async function start(word: string, more: Record<string, unknown> = {}, ending = 'completed'): Promise<Started> {
    const reference = newReference(word);
    await bench.control('POST', '/scenarios', { reference, ending, operation: 'payInvoice' });
    const input = {
      referenceId: reference,
      currency: 'KES',
      amount: '1000.50',
      bank,
      userReference: 'user-1',
      ...more,
    };
    return { reference, handle: await startFlow(reference, input) };
  }

  /** An invoice that was generated elsewhere, and the flow that only pays it. */
  async function startExisting(word: string, more: Record<string, unknown> = {}): Promise<Started> {
    const reference = newReference(word);
    await bench.deps.service.createInvoice({ referenceId: reference, currency: 'KES', amount: 1000.5, bank });
    const input = { referenceId: reference, currency: 'KES', amount: 1000.5, mobileMoney, ...more };
    return { reference, handle: await startFlow(reference, input) };
  }

  const ended = async ({ handle }: Started): Promise<FlowView> =>
    (await untilFlow(handle, ({ view }) => view.outcome !== null)).view;

  const move = (reference: string, status: string) => bench.move(reference, status, 'payInvoice');

  return {
    bench,
    startFlow,
    start,
    startExisting,
    ended,
    move,
    startPaid: (word: string, ending?: string, more = {}) => start(word, { payment: { mobileMoney }, ...more }, ending),
    fault: (operation: string, kind: string) => bench.control('POST', '/faults', { operation, kind, first: 1 }),
    executed: async (reference: string) => ({
      generated: await bench.executions('createInvoice', reference),
      paid: await bench.executions('payInvoice', reference),
    }),
    /** Until the service shows that it is paid. */
    shownAsPaid: (reference: string) =>
      until('the service to show the payment', async () => {
        const shown = await bench.deps.service.getInvoicePayment(reference).catch(() => undefined);
        return shown?.status === 'SUCCESSFUL';
      }),
    /** The customer pays after all. */
    async paid(started: Started): Promise<FlowView> {
      await move(started.reference, 'SUCCESSFUL');
      await started.handle.signal('events', [trusted('SUCCESSFUL', { source: 'webhook' })]);
      return ended(started);
    },
  };
}
export type InvoiceBench = Awaited<ReturnType<typeof openInvoiceBench>>;

export const pay = ({ handle }: Started, more = {}) =>
  handle.executeUpdate('pay', { args: [{ actor: 'shop', mobileMoney, ...more }] });
export const cancel = ({ handle }: Started) => handle.executeUpdate('cancel', { args: [{ actor: 'ada' }] });
export const resolve = ({ handle }: Started, action: string) =>
  handle.executeUpdate('resolve', { args: [{ action, note: 'looked into it', actor: 'ada' }] });
export const stage = ({ handle }: Started, word: string) => untilFlow(handle, ({ view }) => view.stage === word);
export const parked = async ({ handle }: Started): Promise<FlowView> =>
  (await untilFlow(handle, ({ view }) => view.state === 'parked')).view;
export const accepted = ({ handle }: Started) =>
  untilFlow(handle, ({ view }) => entriesOf(view, 'accepted').length === 2);
