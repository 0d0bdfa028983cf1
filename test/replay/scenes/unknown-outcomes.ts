import { trusted } from '../../harness/inputs.js';
import { until } from '../../harness/until.js';
import { noted } from '../../harness/reports.js';
import { completed, HUNDREDTH, parked, resolve, send, stage, type Scenes } from '../scene.js';

/** A deposit that was sent, and whose answer was lost. */
export const unknownOutcomes: Scenes = {
  'unknown-proven-by-event': {
    ends: 'completed',
    async play(on, reference) {
      await on.sandbox('/faults', { operation: 'createBridgeDeposit', kind: 'answer-lost', first: 1, reference });
      const flow = await on.start(reference);
      await stage(flow, 'outcome-unknown');
      await send(flow, trusted('DEPOSIT_CONFIRMED'));
      await stage(flow, 'tracking');
      await send(flow, completed());
      return flow;
    },
  },

  'unknown-sent-again': {
    ends: 'completed',
    async play(on, reference) {
      await on.sandbox('/faults', { operation: 'createBridgeDeposit', kind: 'reset-before', first: 1, reference });
      const flow = await on.start(reference, HUNDREDTH);
      await parked(flow, 'unknown_outcome');
      await resolve(flow, 'send-again');
      await stage(flow, 'tracking');
      await send(flow, completed());
      return flow;
    },
  },

  'unknown-held-back-at-deadline': {
    ends: 'failed',
    reason: 'not_executed',
    async play(on, reference) {
      const rule = { operation: 'createBridgeDeposit', reference };
      await on.sandbox('/faults', { ...rule, kind: 'reset-before', first: 1 });
      const flow = await on.start(reference, { ...HUNDREDTH, deadlineSeconds: 300 });
      await parked(flow, 'unknown_outcome');
      await on.sandbox('/faults', { ...rule, kind: 'rate-limited' });
      await resolve(flow, 'send-again');
      await noted(flow, 'quoted', '', 2);
      await parked(flow, 'unknown_outcome');
      // Refused while the last attempt may be under way.
      await until('the order to be taken', () =>
        resolve(flow, 'close-not-executed').then(
          () => true,
          () => false,
        ),
      );
      return flow;
    },
  },

  'unknown-closed': {
    ends: 'failed',
    reason: 'not_executed',
    async play(on, reference) {
      await on.sandbox('/faults', { operation: 'createBridgeDeposit', kind: 'reset-before', first: 1, reference });
      const flow = await on.start(reference, HUNDREDTH);
      await parked(flow, 'unknown_outcome');
      await resolve(flow, 'close-not-executed');
      return flow;
    },
  },
};
