import { trusted, until } from '../../workflows/bench.js';
import { cancel, move, noted, parked, resolve, send, type Scenes } from '../scene.js';
import type { Stage } from '../stage.js';

/** A quarter of an hour from look to look becomes a second, and less. */
const THOUSANDTH = { timeScale: 0.001 };

const start = async (on: Stage, reference: string, ending: string, more = {}) => {
  await on.sandbox('/scenarios', { reference, ending, operation: 'getKycStatus' });
  return on.startKind('kyc-check', reference, { ...THOUSANDTH, ...more });
};

/** Waiting for a decision on a record. */
export const kyc: Scenes = {
  'kyc-check-completed': {
    ends: 'completed',
    play: (on, reference) => start(on, reference, 'completed'),
  },

  'kyc-check-completed-by-event': {
    ends: 'completed',
    async play(on, reference) {
      const flow = await start(on, reference, 'kyc-pending', { timeScale: 1 });
      await noted(flow, 'PENDING (looked up)');
      await move(on, reference, 'APPROVED');
      await send(flow, trusted('APPROVED', { source: 'webhook' }));
      return flow;
    },
  },

  'kyc-check-declined': {
    ends: 'failed',
    reason: 'kyc_rejected',
    play: (on, reference) => start(on, reference, 'kyc-rejected'),
  },

  'kyc-check-overdue': {
    ends: 'completed',
    async play(on, reference) {
      const flow = await start(on, reference, 'kyc-pending', { deadlineSeconds: 1_000 });
      await parked(flow, 'no_decision');
      await resolve(flow, 'keep-waiting');
      await until(flow, ({ view }) => view.state === 'running');
      await parked(flow, 'no_decision');
      await resolve(flow, 'mark-completed');
      return flow;
    },
  },

  'kyc-check-cancelled': {
    ends: 'cancelled',
    reason: 'cancelled_before_sending',
    async play(on, reference) {
      const flow = await start(on, reference, 'kyc-pending', { timeScale: 1 });
      await noted(flow, 'PENDING (looked up)');
      await cancel(flow);
      return flow;
    },
  },
};
