import { flowOf } from '../../../src/flows/index.js';
import { bolt11 } from '../../flows/bolt11.js';
import { trusted } from '../../harness/inputs.js';
import { noted } from '../../harness/reports.js';
import { HUNDREDTH, move, parked, resolve, send, type Scenes } from '../scene.js';
import type { Stage } from '../stage.js';

const start = async (on: Stage, kind: 'onramp' | 'offramp', reference: string, ending: string, more = {}) => {
  await on.sandbox('/scenarios', { reference, ending });
  return on.startKind(kind, reference, { ...HUNDREDTH, ...more });
};

/** What only onramps and offramps meet: two legs, and refunds. */
export const ramps: Scenes = {
  'onramp-crypto-failed': {
    ends: 'refunded',
    async play(on, reference) {
      const flow = await start(on, 'onramp', reference, 'crypto-failed');
      await parked(flow, 'crypto_leg_failed');
      await resolve(flow, 'mark-refunded');
      return flow;
    },
  },

  'onramp-duplicate-adopted': {
    ends: 'completed',
    async play(on, reference) {
      await on.sandbox('/faults', { operation: 'createOnramp', kind: 'duplicate-answer', first: 1, reference });
      return start(on, 'onramp', reference, 'completed');
    },
  },

  'onramp-duplicate-mismatch': {
    ends: 'failed',
    reason: 'not_executed',
    async play(on, reference) {
      await on.service.createOnramp({
        referenceId: reference,
        fiatAmount: 9,
        currency: 'KES',
        chain: 'CELO',
        token: 'USDC',
        receiverAddress: '0x1111111111111111111111111111111111111111',
        callbackUrl: 'http://127.0.0.1:9/',
      });
      const answer = { kind: 'duplicate-answer', commit: false, first: 1 };
      await on.sandbox('/faults', { operation: 'createOnramp', reference, ...answer });
      const flow = await start(on, 'onramp', reference, 'completed');
      await parked(flow, 'duplicate_mismatch');
      await resolve(flow, 'close-not-executed');
      return flow;
    },
  },

  'offramp-refunded': {
    ends: 'refunded',
    play: (on, reference) => start(on, 'offramp', reference, 'failed-then-refunded'),
  },

  'offramp-refund-failed': {
    ends: 'refunded',
    async play(on, reference) {
      const flow = await start(on, 'offramp', reference, 'refund-failed');
      await parked(flow, 'refund_failed');
      await resolve(flow, 'mark-refunded');
      return flow;
    },
  },

  'offramp-refund-overdue': {
    ends: 'refunded',
    async play(on, reference) {
      const flow = await start(on, 'offramp', reference, 'failed-no-refund', { deadlineSeconds: 200 });
      await parked(flow, 'refund_pending');
      await move(on, reference, 'REFUND_PENDING', 'REFUNDED');
      await send(flow, trusted('REFUNDED'));
      return flow;
    },
  },

  'offramp-refund-invoice': {
    ends: 'refunded',
    async play(on, reference) {
      const { flow, invoice } = await givenInvoice(on, reference);
      await parked(flow, 'refund_invoice_ready');
      await resolve(flow, 'confirm-handed-over');
      await on.sandbox(`/transactions/${reference}/refund-invoice`, { invoice });
      return flow;
    },
  },

  'offramp-refund-invoice-handed-over': {
    ends: 'refunded',
    isLive: true,
    play: async (on, reference) => (await givenInvoice(on, reference)).flow,
  },
};

/** Over Lightning, whose refund needs an invoice: it is asked for, and provided. */
async function givenInvoice(on: Stage, reference: string) {
  const lightning = { chain: 'LIGHTNING', token: 'SAT', cryptoAmount: '2100', mobileMoneyReceiver: undefined };
  const flow = await start(on, 'offramp', reference, 'refund-needs-invoice', lightning);
  await noted(flow, 'status-looked-up', 'REFUND_PENDING');
  const asks = flowOf('offramp').readEvent({
    event: 'refund.lightning.invoice_needed',
    data: { reference_id: reference, status: 'REFUND_PENDING', crypto_amount: 2_100, token: 'SAT' },
  });
  await send(flow, trusted(asks?.status ?? '', { source: 'webhook', facts: asks?.facts ?? {} }));
  await parked(flow, 'refund_invoice_needed');
  const invoice = bolt11({ amountMsat: 2_100_000 });
  await flow.executeUpdate('provideRefundInvoice', { args: [{ actor: 'ada', invoice }] });
  return { flow, invoice };
}
