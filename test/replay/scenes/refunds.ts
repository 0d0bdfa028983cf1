import { overdueRefund, parked, resolve, type Scenes } from '../scene.js';

/** After a failure without a refund. */
export const refunds: Scenes = {
  'own-refund': {
    ends: 'refunded',
    play: (on, reference) => overdueRefund(on, reference, { refund: { auto: true } }),
  },

  'own-refund-answer-lost': {
    ends: 'refunded',
    async play(on, reference) {
      const refund = `${reference}.refund`;
      await on.sandbox('/faults', { operation: 'sendCrypto', kind: 'answer-lost', first: 1, reference: refund });
      return overdueRefund(on, reference, { refund: { auto: true } });
    },
  },

  'own-refund-failed': {
    ends: 'refunded',
    async play(on, reference) {
      await on.sandbox('/scenarios', { reference: `${reference}.refund`, ending: 'rejected' });
      const flow = await overdueRefund(on, reference, { refund: { auto: true } });
      await parked(flow, 'refund_failed');
      await resolve(flow, 'mark-refunded');
      return flow;
    },
  },

  'own-refund-closed-unread': {
    ends: 'failed',
    reason: 'closed_by_person',
    async play(on, reference) {
      const refund = `${reference}.refund`;
      await on.sandbox('/faults', { operation: 'sendCrypto', kind: 'reset-before', first: 1, reference: refund });
      const flow = await overdueRefund(on, reference, { refund: { auto: true } });
      await parked(flow, 'refund_unknown');
      // A webhook that may be about this flow comes while its claim is being closed, and is not matched for a while.
      const webhook = { id: `recorded-${reference}`, source: 'webhook', reference, status: null } as const;
      on.around('closeNotExecuted', refund, async (call) => {
        const row = { ...webhook, flowId: null, proof: 'signature', contentHash: reference, body: {} } as const;
        await on.store.inbox.receive({ ...row, toMatch: true });
        return call();
      });
      await resolve(flow, 'close-not-executed');
      await parked(flow, 'step_failed');
      await on.store.inbox.match(webhook.id, { flowId: null, reference, status: null });
      return flow;
    },
  },

  'refund-ordered-by-person': {
    ends: 'refunded',
    async play(on, reference) {
      const flow = await overdueRefund(on, reference, {});
      await parked(flow, 'refund_needed');
      await resolve(flow, 'refund-now');
      return flow;
    },
  },
};
