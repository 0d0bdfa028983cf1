import { expiredQuote, trusted } from '../../harness/inputs.js';
import {
  completed,
  HAPPY,
  parked,
  received,
  REFUND_DUE,
  resolve,
  send,
  stage,
  tracked,
  UNPROVEN,
  untilContinued,
  type Scenes,
} from '../scene.js';
import type { Around } from '../stage.js';

/** What the service and its events decide. */
export const endings: Scenes = {
  completed: {
    ends: 'completed',
    async play(on, reference) {
      const flow = await tracked(on, reference);
      for (const status of HAPPY) await send(flow, trusted(status));
      return flow;
    },
  },

  refunded: {
    ends: 'refunded',
    async play(on, reference) {
      const flow = await tracked(on, reference);
      await send(flow, trusted('FAILED', REFUND_DUE));
      await stage(flow, 'refunding');
      await send(flow, trusted('REFUNDED'));
      return flow;
    },
  },

  'failed-early': {
    ends: 'failed',
    reason: 'failed_at_service',
    async play(on, reference) {
      const flow = await tracked(on, reference);
      await send(flow, trusted('FAILED', { facts: { failureStage: 'FIAT_COLLECTION' } }));
      return flow;
    },
  },

  'failed-bare': {
    ends: 'refunded',
    async play(on, reference) {
      const flow = await tracked(on, reference, { timeScale: 0.001, deadlineSeconds: 2_592_000 });
      await send(flow, trusted('FAILED'));
      await parked(flow, 'refund_needed');
      await send(flow, trusted('REFUNDED'));
      return flow;
    },
  },

  'invalid-input': {
    ends: 'failed',
    reason: 'invalid_input',
    play: (on, reference) => on.start(reference, { chain: 'MOON' }),
  },

  rejected: {
    ends: 'failed',
    reason: 'rejected_by_service',
    async play(on, reference) {
      await on.sandbox('/scenarios', { reference, ending: 'rejected' });
      return on.start(reference);
    },
  },

  'forgetful-store': {
    ends: 'completed',
    async play(on, reference) {
      on.around('recordAnswer', reference, fullOnce());
      const flow = await tracked(on, reference);
      await send(flow, completed());
      return flow;
    },
  },

  'forgetful-store-rejected': {
    ends: 'failed',
    reason: 'rejected_by_service',
    async play(on, reference) {
      on.around('recordRejection', reference, fullOnce());
      await on.sandbox('/scenarios', { reference, ending: 'rejected' });
      return on.start(reference);
    },
  },

  requoted: {
    ends: 'completed',
    async play(on, reference) {
      const quote = expiredQuote(reference);
      await on.store.quotes.remember('recorded', quote, 1_000);
      const flow = await tracked(on, reference, { rate_id: quote.rateId });
      await send(flow, completed());
      return flow;
    },
  },

  'quote-rejected': {
    ends: 'failed',
    reason: 'quote_rejected',
    async play(on, reference) {
      const quote = expiredQuote(reference, false);
      await on.store.quotes.remember('recorded', quote, 1_000);
      return on.start(reference, { rate_id: quote.rateId });
    },
  },

  'rate-expired-at-service': {
    ends: 'completed',
    async play(on, reference) {
      await on.sandbox('/scenarios', { reference, ending: 'rate-expired', times: 1 });
      const flow = await on.start(reference, { timeScale: 0.001, deadlineSeconds: 2_592_000 });
      await parked(flow, 'unknown_outcome');
      await resolve(flow, 'send-again');
      await stage(flow, 'tracking');
      await send(flow, completed());
      return flow;
    },
  },

  'settlement-reported': {
    ends: 'completed',
    async play(on, reference) {
      const flow = await tracked(on, reference);
      const id = await received(on, reference, 'COMPLETED');
      await send(flow, trusted('COMPLETED', { id, source: 'settlement', proof: 'signature' }));
      return flow;
    },
  },

  'report-not-heard': {
    ends: 'completed',
    async play(on, reference) {
      await on.sandbox('/faults', { operation: 'reportSettlement', kind: 'error-before', status: 503, reference });
      const flow = await tracked(on, reference, { timeScale: 0.001, deadlineSeconds: 2_592_000 });
      const id = await received(on, reference, 'COMPLETED');
      await send(flow, trusted('COMPLETED', { id, source: 'settlement', proof: 'signature' }));
      await parked(flow, 'report_refused');
      await resolve(flow, 'mark-completed');
      return flow;
    },
  },

  'continued-as-new': {
    ends: 'completed',
    async play(on, reference) {
      const flow = await tracked(on, reference);
      const latest = on.client.workflow.getHandle(flow.workflowId);
      await latest.signal('events', [trusted('DEPOSIT_CONFIRMED'), trusted('COMPLETED', UNPROVEN)]);
      // Empty ones count, too, and make a small file.
      for (let signals = 1; signals < 180; signals += 1) await latest.signal('events', []);
      await untilContinued(latest, flow.firstExecutionRunId);
      await send(latest, completed());
      return flow;
    },
  },
};

/** The store does not take the first answer: the flow writes it later. */
function fullOnce(): Around {
  let isFull = true;
  return (call) => {
    if (!isFull) return call();
    isFull = false;
    return Promise.reject(new Error('the disk is full'));
  };
}
