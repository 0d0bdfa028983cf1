import { trusted } from '../../harness/inputs.js';
import { likeKinds, type NamedKind } from '../../harness/kinds.js';
import { cancel, HUNDREDTH, parked, resolve, send, stage, UNPROVEN, untilContinued, type Scenes } from '../scene.js';
import type { Stage } from '../stage.js';

const paid = (facts: Readonly<Record<string, string>> = { amount: '250.5', currency: 'ZAR' }) =>
  trusted('SUCCESSFUL', { source: 'webhook', facts });

const KINDS = likeKinds('by-events');

/** The main endings of each, and for one of them, since they track alike, what a person decides. */
export const byEvents: Scenes = Object.assign(
  {},
  ...KINDS.map(endingsOf),
  ...KINDS.slice(0, 1).map(decisionsOf),
) as Scenes;

function starting({ kind, record: operation }: NamedKind) {
  return async (on: Stage, reference: string, options: { fault?: object; more?: object; ending?: string } = {}) => {
    await on.sandbox('/scenarios', { reference, ending: options.ending ?? 'never', operation });
    if (options.fault) await on.sandbox('/faults', { operation, reference, ...options.fault });
    return on.startKind(kind, reference, { ...HUNDREDTH, ...options.more });
  };
}

function endingsOf(named: NamedKind): Scenes {
  const { kind } = named;
  const start = starting(named);
  const tracked = async (on: Stage, reference: string, more = {}) => {
    const flow = await start(on, reference, { more });
    await stage(flow, 'tracking');
    return flow;
  };

  return {
    [`${kind}-completed`]: {
      ends: 'completed',
      async play(on, reference) {
        const flow = await tracked(on, reference);
        await send(flow, trusted('PENDING'));
        await send(flow, paid());
        return flow;
      },
    },

    [`${kind}-failed`]: {
      ends: 'failed',
      reason: 'failed_at_service',
      async play(on, reference) {
        const flow = await tracked(on, reference);
        await send(flow, trusted('FAILED'));
        return flow;
      },
    },

    [`${kind}-reversed`]: {
      ends: 'refunded',
      async play(on, reference) {
        const flow = await tracked(on, reference);
        await send(flow, trusted('REVERSED'));
        return flow;
      },
    },

    [`${kind}-rejected`]: {
      ends: 'failed',
      reason: 'rejected_by_service',
      play: (on, reference) => start(on, reference, { ending: 'rejected' }),
    },

    [`${kind}-cancelled`]: {
      ends: 'cancelled',
      reason: 'cancelled_before_sending',
      async play(on, reference) {
        const flow = await start(on, reference, {
          fault: { kind: 'rate-limited', retryAfterSeconds: 50 },
          more: { timeScale: 1 },
        });
        await stage(flow, 'submitting');
        await cancel(flow);
        return flow;
      },
    },

    [`${kind}-unknown-settled-by-event`]: {
      ends: 'completed',
      async play(on, reference) {
        const flow = await start(on, reference, { fault: { kind: 'answer-lost', first: 1 }, more: { timeScale: 1 } });
        await stage(flow, 'outcome-unknown');
        await send(flow, trusted('PENDING'));
        await stage(flow, 'tracking');
        await send(flow, paid());
        return flow;
      },
    },

    [`${kind}-unknown-closed`]: {
      ends: 'failed',
      reason: 'not_executed',
      async play(on, reference) {
        const flow = await start(on, reference, { fault: { kind: 'reset-before', first: 1 } });
        await parked(flow, 'unknown_outcome');
        await resolve(flow, 'close-not-executed');
        return flow;
      },
    },

    [`${kind}-overdue`]: {
      ends: 'completed',
      async play(on, reference) {
        const flow = await tracked(on, reference, { deadlineSeconds: 100 });
        await parked(flow, 'no_settlement');
        await send(flow, paid());
        return flow;
      },
    },
  };
}

function decisionsOf(named: NamedKind): Scenes {
  const { kind } = named;
  const start = starting(named);

  return {
    [`${kind}-unknown-sent-again`]: {
      ends: 'completed',
      async play(on, reference) {
        const flow = await start(on, reference, { fault: { kind: 'reset-before', first: 1 } });
        await parked(flow, 'unknown_outcome');
        await resolve(flow, 'send-again');
        await stage(flow, 'tracking');
        await send(flow, paid());
        return flow;
      },
    },

    [`${kind}-unverified`]: {
      ends: 'completed',
      async play(on, reference) {
        const flow = await start(on, reference, { more: { deadlineSeconds: 100 } });
        await stage(flow, 'tracking');
        await send(flow, trusted('SUCCESSFUL', UNPROVEN));
        await parked(flow, 'unverified_settlement');
        await resolve(flow, 'trust-settlement');
        return flow;
      },
    },

    [`${kind}-mismatch`]: {
      ends: 'completed',
      async play(on, reference) {
        const flow = await start(on, reference);
        await stage(flow, 'tracking');
        await send(flow, paid({ amount: '1', currency: 'ZAR' }));
        await parked(flow, 'event_mismatch');
        await resolve(flow, 'dismiss-event');
        await send(flow, paid());
        return flow;
      },
    },

    [`${kind}-conflict`]: {
      ends: 'refunded',
      async play(on, reference) {
        const flow = await start(on, reference);
        await stage(flow, 'tracking');
        await send(flow, trusted('EXPIRED'), paid());
        await parked(flow, 'conflict');
        await resolve(flow, 'mark-refunded');
        return flow;
      },
    },

    [`${kind}-continued-as-new`]: {
      ends: 'completed',
      async play(on, reference) {
        const flow = await start(on, reference, { more: { timeScale: 1 } });
        await stage(flow, 'tracking');
        const latest = on.client.workflow.getHandle(flow.workflowId);
        await latest.signal('events', [trusted('PENDING'), trusted('SUCCESSFUL', UNPROVEN)]);
        // Empty ones count, too, and make a small file.
        for (let signals = 1; signals < 180; signals += 1) await latest.signal('events', []);
        await untilContinued(latest, flow.firstExecutionRunId);
        await send(latest, paid());
        return flow;
      },
    },
  };
}
