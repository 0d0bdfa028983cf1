import type { FlowKind, ParkReason } from '../../../src/protocol/vocabulary.js';
import { trusted } from '../../harness/inputs.js';
import { untilFlow } from '../../harness/reports.js';
import { cancel, move, noted, parked, resolve, send, type Scenes } from '../scene.js';
import type { Stage } from '../stage.js';

/** A quarter of an hour from look to look becomes a second, and less. */
const THOUSANDTH = { timeScale: 0.001 };

/** A kind that moves nothing and waits for how a record ends. */
interface Watched {
  readonly kind: FlowKind;
  /** Of the sandbox's record. */
  readonly operation: string;
  /** Where the record comes into being by itself only when it is looked at: nothing. */
  readonly begin?: (on: Stage, reference: string) => Promise<unknown>;
  /** Endings of the sandbox. */
  readonly undecided: string;
  readonly failing: { readonly ending: string; readonly reason: string };
  /** The word that ends it well. */
  readonly good: string;
  readonly overdue: ParkReason;
}

const KINDS: readonly Watched[] = [
  {
    kind: 'kyc-check',
    operation: 'getKycStatus',
    undecided: 'kyc-pending',
    failing: { ending: 'kyc-rejected', reason: 'kyc_rejected' },
    good: 'APPROVED',
    overdue: 'no_decision',
  },
  {
    kind: 'mobile-money-watch',
    operation: 'mobileMoneyDeposit',
    begin: (on, referenceId) =>
      on.sandbox('/mobile-money-deposits', { referenceId, amount: 9, currency: 'KES', phoneNumber: '+254712345678' }),
    undecided: 'never',
    failing: { ending: 'failed', reason: 'failed_at_service' },
    good: 'SUCCESSFUL',
    overdue: 'no_settlement',
  },
];

/** Waiting for a decision on a record. */
export const watched: Scenes = Object.assign({}, ...KINDS.map(scenesOf)) as Scenes;

function scenesOf({ kind, operation, begin, undecided, failing, good, overdue }: Watched): Scenes {
  const start = async (on: Stage, reference: string, ending: string, more = {}) => {
    await on.sandbox('/scenarios', { reference, ending, operation });
    await begin?.(on, reference);
    return on.startKind(kind, reference, { ...THOUSANDTH, ...more });
  };

  return {
    [`${kind}-completed`]: {
      ends: 'completed',
      play: (on, reference) => start(on, reference, 'completed'),
    },

    [`${kind}-completed-by-event`]: {
      ends: 'completed',
      async play(on, reference) {
        const flow = await start(on, reference, undecided, { timeScale: 1 });
        await noted(flow, 'PENDING (looked up)');
        await move(on, reference, good);
        await send(flow, trusted(good, { source: 'webhook' }));
        return flow;
      },
    },

    [`${kind}-declined`]: {
      ends: 'failed',
      reason: failing.reason,
      play: (on, reference) => start(on, reference, failing.ending),
    },

    [`${kind}-overdue`]: {
      ends: 'completed',
      async play(on, reference) {
        const flow = await start(on, reference, undecided, { deadlineSeconds: 1_000 });
        await parked(flow, overdue);
        await resolve(flow, 'keep-waiting');
        await untilFlow(flow, ({ view }) => view.state === 'running');
        await parked(flow, overdue);
        await resolve(flow, 'mark-completed');
        return flow;
      },
    },

    [`${kind}-cancelled`]: {
      ends: 'cancelled',
      reason: 'cancelled_before_sending',
      async play(on, reference) {
        const flow = await start(on, reference, undecided, { timeScale: 1 });
        await noted(flow, 'PENDING (looked up)');
        await cancel(flow);
        return flow;
      },
    },
  };
}
