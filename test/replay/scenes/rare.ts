import { Client } from '@temporalio/client';
import { flowIdOf, TASK_QUEUE, workflowTypeOf } from '../../../src/protocol/vocabulary.js';
import { transferInput } from '../../harness/inputs.js';
import { untilFlow } from '../../harness/reports.js';
import { until } from '../../harness/until.js';
import { HUNDREDTH, overdueRefund, parked, resolve, untilContinued, type Scenes } from '../scene.js';

const AWAY = { kind: 'error-before', status: 503 };

/** Reasons to park, and to end, that no other scene has. */
export const rare: Scenes = {
  'crypto-send-could-not-ask': {
    ends: 'failed',
    reason: 'not_executed',
    async play(on, reference) {
      await on.sandbox('/faults', { operation: 'sendCrypto', kind: 'reset-before', first: 1, reference });
      await on.sandbox('/faults', { operation: 'getCryptoSend', reference, ...AWAY });
      const flow = await on.startKind('crypto-send', reference, HUNDREDTH);
      await parked(flow, 'could_not_ask');
      await resolve(flow, 'close-not-executed');
      return flow;
    },
  },

  'crypto-send-marked-as-failed': {
    ends: 'failed',
    reason: 'closed_by_person',
    async play(on, reference) {
      await on.sandbox('/scenarios', { reference, ending: 'never' });
      const flow = await on.startKind('crypto-send', reference, { ...HUNDREDTH, deadlineSeconds: 300 });
      await parked(flow, 'no_settlement');
      await resolve(flow, 'mark-failed');
      return flow;
    },
  },

  'crypto-send-taken-back': {
    ends: 'failed',
    reason: 'not_executed',
    async play(on, reference) {
      const rule = { operation: 'sendCrypto', reference };
      await on.sandbox('/faults', { ...rule, kind: 'reset-before', first: 1 });
      const flow = await on.startKind('crypto-send', reference, { ...HUNDREDTH, deadlineSeconds: 600 });
      await parked(flow, 'not_found_at_service');
      await on.sandbox('/faults', { ...rule, kind: 'rate-limited', retryAfterSeconds: 600 });
      await resolve(flow, 'send-again');
      await untilFlow(flow, ({ view }) => view.state === 'running');
      // At its deadline.
      await parked(flow, 'not_found_at_service');
      await until('the order to be taken', () =>
        resolve(flow, 'close-not-executed').then(
          () => true,
          () => false,
        ),
      );
      return flow;
    },
  },

  'crypto-send-continued-as-new': {
    ends: 'failed',
    reason: 'not_executed',
    async play(on, reference) {
      await on.sandbox('/faults', { operation: 'sendCrypto', kind: 'reset-before', first: 1, reference });
      const flow = await on.startKind('crypto-send', reference, HUNDREDTH);
      await parked(flow, 'not_found_at_service');
      const latest = on.client.workflow.getHandle(flow.workflowId);
      // Empty ones count, too, and make a small file.
      for (let signals = 0; signals <= 180; signals += 1) await latest.signal('events', []);
      await untilContinued(latest, flow.firstExecutionRunId);
      await resolve(latest, 'close-not-executed');
      return flow;
    },
  },

  'invoice-payment-unclear': {
    ends: 'failed',
    reason: 'not_executed',
    async play(on, reference) {
      await on.sandbox('/faults', { operation: 'getInvoicePayment', reference, ...AWAY });
      const flow = await on.startKind('invoice-payment', reference, { ...HUNDREDTH, deadlineSeconds: 300 });
      await parked(flow, 'payment_unclear');
      await resolve(flow, 'close-not-executed');
      return flow;
    },
  },

  'own-refund-unconfirmed': {
    ends: 'refunded',
    async play(on, reference) {
      await on.sandbox('/scenarios', { reference: `${reference}.refund`, ending: 'never' });
      const flow = await overdueRefund(on, reference, { refund: { auto: true } });
      await parked(flow, 'refund_unconfirmed');
      await resolve(flow, 'mark-refunded');
      return flow;
    },
  },

  'deadline-without-the-store': {
    ends: 'failed',
    reason: 'closed_by_person',
    async play(on, reference) {
      // The store cannot say in time whether anything was sent, so the flow does not expire by itself.
      on.around('voidAll', reference, () => Promise.reject(new Error('the connection was lost')));
      const flow = await on.start(reference, { ...HUNDREDTH, approval: 'required', deadlineSeconds: 100 });
      await parked(flow, 'step_failed');
      await resolve(flow, 'mark-failed');
      return flow;
    },
  },

  'other-request': {
    ends: 'failed',
    reason: 'other_request_same_reference',
    async play(on, reference) {
      const key = { account: 'recorded', operation: 'createBridgeDeposit', reference };
      await on.store.claims.reserve(key, { owner: 'earlier', flowId: 'x', fingerprint: 'of another request' });
      return on.start(reference);
    },
  },

  plaintext: {
    ends: 'failed',
    reason: 'plaintext_input',
    // By a client without the payload keys.
    play: (on, reference) =>
      new Client({ connection: on.client.connection, identity: on.client.options.identity }).workflow.start(
        workflowTypeOf('bridge-transfer'),
        {
          taskQueue: TASK_QUEUE,
          workflowId: flowIdOf('bridge-transfer', reference),
          args: [transferInput(reference)],
        },
      ),
  },
};
