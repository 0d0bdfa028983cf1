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
