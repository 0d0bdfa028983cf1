import { trusted } from '../../harness/inputs.js';
import { until } from '../../harness/until.js';
import { noted } from '../../harness/reports.js';
import { cancel, completed, HUNDREDTH, refused, send, stage, tracked, type Scenes } from '../scene.js';

/** Approvals, cancels and deadlines, before the deposit and after. */
export const stops: Scenes = {
  approved: {
    ends: 'completed',
    async play(on, reference) {
      const flow = await on.start(reference, { approval: 'required' });
      await stage(flow, 'awaiting-approval');
      await flow.executeUpdate('approveQuote', { args: [{ actor: 'ada' }] });
      await stage(flow, 'tracking');
      await send(flow, completed());
      return flow;
    },
  },

  'cancelled-before-deposit': {
    ends: 'cancelled',
    reason: 'cancelled_before_sending',
    async play(on, reference) {
      const flow = await on.start(reference, { approval: 'required' });
      await stage(flow, 'awaiting-approval');
      await flow.executeUpdate('cancel', { args: [{ actor: 'ada', note: 'as recorded' }] });
      return flow;
    },
  },

  'cancelled-in-ui': {
    ends: 'cancelled',
    reason: 'cancelled_before_sending',
    async play(on, reference) {
      const flow = await on.start(reference, { approval: 'required' });
      await stage(flow, 'awaiting-approval');
      await flow.cancel();
      return flow;
    },
  },

  'cancel-refused': {
    ends: 'completed',
    async play(on, reference) {
      const flow = await tracked(on, reference);
      await flow.cancel();
      await noted(flow, 'cancel-refused');
      await send(flow, completed());
      return flow;
    },
  },

  'cancel-carried-out-late': {
    ends: 'cancelled',
    reason: 'cancelled_before_sending',
    async play(on, reference) {
      await on.sandbox('/faults', { operation: 'createBridgeDeposit', reference, kind: 'rate-limited' });
      const flow = await on.start(reference, HUNDREDTH);
      await until('its claim', async () => (await on.store.claims.ofFlow(flow.workflowId)).length === 1);
      // The store does what it is asked for, and each of its answers is lost: the person is refused.
      on.around('voidAll', reference, async (call) => {
        await call();
        throw new Error('the connection was lost');
      });
      await refused(cancel(flow));
      return flow;
    },
  },

  expired: {
    ends: 'expired',
    reason: 'deadline_passed',
    play: (on, reference) => on.start(reference, { approval: 'required', deadlineSeconds: 1 }),
  },
};
