import { trusted } from '../../harness/inputs.js';
import { noted, untilFlow } from '../../harness/reports.js';
import {
  completed,
  HUNDREDTH,
  parked,
  received,
  refused,
  resolve,
  send,
  tracked,
  UNPROVEN,
  type Scenes,
} from '../scene.js';

/** Events that contradict what is known, are not proven, or do not come: mostly a person decides. */
export const decisions: Scenes = {
  mismatch: {
    ends: 'completed',
    async play(on, reference) {
      // A day without an answer takes a second here, so the flow sends a reminder.
      const flow = await tracked(on, reference, { timeScale: 0.000_01, deadlineSeconds: 2_592_000 });
      await send(flow, trusted('COMPLETED', { facts: { settlementAmount: '999', settlementCurrency: 'ZAR' } }));
      await parked(flow, 'event_mismatch');
      await new Promise((passed) => setTimeout(passed, 1_500));
      await resolve(flow, 'dismiss-event');
      await send(flow, completed());
      return flow;
    },
  },

  conflict: {
    ends: 'completed',
    async play(on, reference) {
      const flow = await tracked(on, reference);
      await send(flow, trusted('REFUNDED'), completed());
      await parked(flow, 'conflict');
      await resolve(flow, 'mark-completed');
      return flow;
    },
  },

  forged: {
    ends: 'completed',
    async play(on, reference) {
      const flow = await tracked(on, reference);
      await send(flow, trusted('COMPLETED', UNPROVEN), trusted('REQUIRE_REVIEW'));
      await noted(flow, 'event-unverified', 'COMPLETED');
      await send(flow, completed());
      return flow;
    },
  },

  'unverified-trusted-by-person': {
    ends: 'completed',
    async play(on, reference) {
      const flow = await tracked(on, reference, { ...HUNDREDTH, deadlineSeconds: 100 });
      await send(flow, trusted('COMPLETED', { ...UNPROVEN, id: await received(on, reference, 'COMPLETED') }));
      await parked(flow, 'unverified_settlement');
      await resolve(flow, 'trust-settlement');
      return flow;
    },
  },

  'no-settlement': {
    ends: 'failed',
    reason: 'closed_by_person',
    async play(on, reference) {
      const flow = await tracked(on, reference, { ...HUNDREDTH, deadlineSeconds: 50 });
      await parked(flow, 'no_settlement');
      await resolve(flow, 'keep-waiting');
      await untilFlow(flow, ({ view }) => view.state === 'running');
      await parked(flow, 'no_settlement');
      await resolve(flow, 'mark-failed');
      return flow;
    },
  },

  'last-word-refused': {
    ends: 'completed',
    async play(on, reference) {
      const flow = await tracked(on, reference, { ...HUNDREDTH, deadlineSeconds: 50 });
      await parked(flow, 'no_settlement');
      // In the moment between the last reading of the inbox and the closing of the claims.
      on.around('closeByOrder', reference, async (call) => {
        await received(on, reference, 'COMPLETED');
        return call();
      });
      await refused(resolve(flow, 'mark-failed'));
      await noted(flow, 'order-refused');
      return flow;
    },
  },

  'differing-event-since-the-park': {
    ends: 'completed',
    async play(on, reference) {
      const flow = await tracked(on, reference);
      await send(flow, trusted('REFUNDED'), completed());
      await parked(flow, 'conflict');
      await received(on, reference, 'COMPLETED', 'USDT');
      await refused(resolve(flow, 'mark-completed'));
      await noted(flow, 'order-refused');
      await parked(flow, 'event_mismatch');
      await resolve(flow, 'dismiss-event');
      await parked(flow, 'conflict');
      await resolve(flow, 'mark-completed');
      return flow;
    },
  },

  'late-event-decides': {
    ends: 'completed',
    async play(on, reference) {
      const flow = await tracked(on, reference, { ...HUNDREDTH, deadlineSeconds: 50 });
      await parked(flow, 'no_settlement');
      await send(flow, completed());
      return flow;
    },
  },
};
