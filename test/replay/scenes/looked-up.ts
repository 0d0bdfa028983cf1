import { flowOf } from '../../../src/flows/index.js';
import { trusted } from '../../harness/inputs.js';
import { likeKinds, type NamedKind } from '../../harness/kinds.js';
import { noted, untilFlow } from '../../harness/reports.js';
import { cancel, HUNDREDTH, move, parked, resolve, send, stage, type Scenes } from '../scene.js';
import type { Stage } from '../stage.js';

/** Their main endings: by the lookup alone, and with an event that triggers it. */
export const lookedUp: Scenes = Object.assign({}, ...likeKinds('looked-up').map(scenesOf)) as Scenes;

function scenesOf({ kind, record: operation, fails, open: { ending: unpaid, rest } }: NamedKind): Scenes {
  const { status } = flowOf(kind);
  const lookups = [status?.operation, status?.besides?.operation].filter((name) => name !== undefined);
  const start = async (on: Stage, reference: string, ending: string, more: Record<string, unknown> = {}) => {
    await on.sandbox('/scenarios', { reference, ending });
    return on.startKind(kind, reference, { ...HUNDREDTH, ...more });
  };
  const fault = (on: Stage, reference: string, rule: Record<string, unknown>) =>
    on.sandbox('/faults', { operation, reference, ...rule });

  return {
    [`${kind}-completed`]: {
      ends: 'completed',
      play: (on, reference) => start(on, reference, 'completed'),
    },

    [`${kind}-completed-by-event`]: {
      ends: 'completed',
      async play(on, reference) {
        const flow = await start(on, reference, unpaid, { timeScale: 1 });
        await noted(flow, 'accepted');
        await move(on, reference, ...rest);
        await send(flow, trusted('PENDING'), trusted('SUCCESS'));
        return flow;
      },
    },

    [`${kind}-failed`]: {
      ends: 'failed',
      reason: fails.reason,
      play: (on, reference) => start(on, reference, fails.ending),
    },

    [`${kind}-rejected`]: {
      ends: 'failed',
      reason: 'rejected_by_service',
      play: (on, reference) => start(on, reference, 'rejected'),
    },

    [`${kind}-cancelled`]: {
      ends: 'cancelled',
      reason: 'cancelled_before_sending',
      async play(on, reference) {
        await fault(on, reference, { kind: 'rate-limited', retryAfterSeconds: 60 });
        const flow = await start(on, reference, 'completed', { timeScale: 1 });
        await stage(flow, 'submitting');
        await cancel(flow);
        return flow;
      },
    },

    [`${kind}-unknown-settled-by-lookup`]: {
      ends: 'completed',
      async play(on, reference) {
        await fault(on, reference, { kind: 'answer-lost', first: 1 });
        return start(on, reference, 'completed');
      },
    },

    [`${kind}-unknown-settled-by-event`]: {
      ends: 'completed',
      async play(on, reference) {
        await fault(on, reference, { kind: 'answer-lost', first: 1 });
        // Long enough for the event to be first.
        for (const lookup of lookups) {
          await fault(on, reference, { operation: lookup, kind: 'fail-first', first: 10, status: 404 });
        }
        const flow = await start(on, reference, 'completed');
        await stage(flow, 'outcome-unknown');
        await send(flow, trusted('PENDING'));
        await noted(flow, 'proven');
        return flow;
      },
    },

    [`${kind}-not-found-sent-again`]: {
      ends: 'completed',
      async play(on, reference) {
        await fault(on, reference, { kind: 'reset-before', first: 1 });
        const flow = await start(on, reference, 'completed');
        await parked(flow, 'not_found_at_service');
        await resolve(flow, 'send-again');
        return flow;
      },
    },

    [`${kind}-overdue`]: {
      ends: 'completed',
      async play(on, reference) {
        const flow = await start(on, reference, unpaid, { deadlineSeconds: 100 });
        await parked(flow, 'no_settlement');
        await resolve(flow, 'keep-waiting');
        await untilFlow(flow, ({ view }) => view.state === 'running');
        await parked(flow, 'no_settlement');
        await move(on, reference, ...rest);
        await send(flow, trusted('SUCCESS'));
        return flow;
      },
    },
  };
}
