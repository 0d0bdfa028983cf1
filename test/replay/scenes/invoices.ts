import type { WorkflowHandle } from '@temporalio/client';
import { trusted } from '../../harness/inputs.js';
import { noted } from '../../harness/reports.js';
import { cancel, HUNDREDTH, move, parked, resolve, send, stage, type Scenes } from '../scene.js';
import type { Stage } from '../stage.js';

const mobileMoney = { accountName: 'Amina Example', phoneNumber: '+254712345678', providerNetwork: 'MPESA' };
const UNPAID = { payment: undefined };

const start = async (on: Stage, reference: string, ending: string, more = {}) => {
  await on.sandbox('/scenarios', { reference, ending, operation: 'payInvoice' });
  return on.startKind('invoice-payment', reference, { ...HUNDREDTH, ...more });
};
const lose = (on: Stage, reference: string, operation: string, kind: string) =>
  on.sandbox('/faults', { operation, kind, first: 1, reference });
const pay = (flow: WorkflowHandle) => flow.executeUpdate('pay', { args: [{ actor: 'shop', mobileMoney }] });
const webhook = (status: string) => trusted(status, { source: 'webhook' });

/** Generated and paid at once, paid when ordered, or only paid. */
export const invoices: Scenes = {
  'invoice-payment-completed': {
    ends: 'completed',
    play: (on, reference) => start(on, reference, 'completed'),
  },

  'invoice-payment-ordered-to-pay': {
    ends: 'completed',
    async play(on, reference) {
      const flow = await start(on, reference, 'never', UNPAID);
      await stage(flow, 'awaiting-payment');
      await pay(flow);
      await move(on, reference, 'SUCCESSFUL');
      await send(flow, webhook('SUCCESSFUL'));
      return flow;
    },
  },

  'invoice-payment-existing': {
    ends: 'completed',
    async play(on, reference) {
      const bank = { accountNumber: '0112345678' };
      await on.service.createInvoice({ referenceId: reference, currency: 'KES', amount: 1000.5, bank });
      const existing = { bank: undefined, userReference: undefined, payment: undefined, mobileMoney };
      return start(on, reference, 'completed', existing);
    },
  },

  'invoice-payment-paid-elsewhere': {
    ends: 'completed',
    async play(on, reference) {
      const flow = await start(on, reference, 'completed', { ...UNPAID, timeScale: 1 });
      await stage(flow, 'awaiting-payment');
      await on.service.payInvoice({ referenceId: reference, currency: 'KES', amount: 1000.5, mobileMoney });
      await new Promise((passed) => setTimeout(passed, 500));
      await send(flow, webhook('SUCCESSFUL'));
      return flow;
    },
  },

  'invoice-payment-duplicate-mismatch': {
    ends: 'failed',
    reason: 'not_executed',
    async play(on, reference) {
      await on.service.createInvoice({
        referenceId: reference,
        currency: 'KES',
        amount: 9,
        bank: { accountNumber: '0112345678' },
      });
      const flow = await start(on, reference, 'completed', UNPAID);
      await parked(flow, 'duplicate_mismatch');
      await resolve(flow, 'close-not-executed');
      return flow;
    },
  },

  'invoice-payment-failed': {
    ends: 'failed',
    reason: 'failed_at_service',
    play: (on, reference) => start(on, reference, 'failed'),
  },

  'invoice-payment-rejected': {
    ends: 'failed',
    reason: 'not_executed',
    async play(on, reference) {
      const flow = await start(on, reference, 'rejected');
      await parked(flow, 'unknown_outcome');
      await resolve(flow, 'close-not-executed');
      return flow;
    },
  },

  'invoice-payment-generation-rejected': {
    ends: 'failed',
    reason: 'rejected_by_service',
    async play(on, reference) {
      await on.sandbox('/scenarios', { reference, ending: 'invoice-rejected', operation: 'createInvoice' });
      return start(on, reference, 'completed');
    },
  },

  'invoice-payment-cancelled': {
    ends: 'cancelled',
    reason: 'cancelled_before_sending',
    async play(on, reference) {
      const flow = await start(on, reference, 'completed', UNPAID);
      await stage(flow, 'awaiting-payment');
      await cancel(flow);
      return flow;
    },
  },

  'invoice-payment-expired': {
    ends: 'expired',
    reason: 'deadline_passed',
    play: (on, reference) => start(on, reference, 'completed', { ...UNPAID, deadlineSeconds: 200 }),
  },

  'invoice-payment-generation-unknown-settled-by-lookup': {
    ends: 'completed',
    async play(on, reference) {
      await lose(on, reference, 'createInvoice', 'answer-lost');
      return start(on, reference, 'completed');
    },
  },

  'invoice-payment-generation-sent-again': {
    ends: 'completed',
    async play(on, reference) {
      await lose(on, reference, 'createInvoice', 'reset-before');
      const flow = await start(on, reference, 'completed');
      await parked(flow, 'not_found_at_service');
      await resolve(flow, 'send-again');
      return flow;
    },
  },

  'invoice-payment-unknown-settled-by-lookup': {
    ends: 'completed',
    async play(on, reference) {
      await lose(on, reference, 'payInvoice', 'answer-lost');
      return start(on, reference, 'completed');
    },
  },

  'invoice-payment-unknown-settled-by-event': {
    ends: 'completed',
    async play(on, reference) {
      await lose(on, reference, 'payInvoice', 'answer-lost');
      const flow = await start(on, reference, 'never');
      // PENDING, which the lookup says, is also said about an unpaid invoice.
      await parked(flow, 'unknown_outcome');
      await move(on, reference, 'SUCCESSFUL');
      await send(flow, webhook('SUCCESSFUL'));
      return flow;
    },
  },

  'invoice-payment-unknown-closed': {
    ends: 'failed',
    reason: 'not_executed',
    async play(on, reference) {
      await lose(on, reference, 'payInvoice', 'reset-before');
      const flow = await start(on, reference, 'completed');
      await parked(flow, 'unknown_outcome');
      await resolve(flow, 'close-not-executed');
      return flow;
    },
  },

  'invoice-payment-overdue': {
    ends: 'failed',
    reason: 'closed_by_person',
    async play(on, reference) {
      const flow = await start(on, reference, 'never', { deadlineSeconds: 200 });
      await noted(flow, 'accepted', '', 2);
      await parked(flow, 'no_settlement');
      await resolve(flow, 'mark-failed');
      return flow;
    },
  },
};
