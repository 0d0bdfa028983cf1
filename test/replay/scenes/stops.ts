import { noted } from '../../harness/reports.js';
import { completed, send, stage, tracked, type Scenes } from '../scene.js';

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

  expired: {
    ends: 'expired',
    reason: 'deadline_passed',
    play: (on, reference) => on.start(reference, { approval: 'required', deadlineSeconds: 1 }),
  },
};
