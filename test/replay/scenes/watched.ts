import { trusted } from '../../harness/inputs.js';
import { likeKinds, type NamedKind } from '../../harness/kinds.js';
import { noted, untilFlow } from '../../harness/reports.js';
import { cancel, move, parked, resolve, send, type Scenes } from '../scene.js';
import type { Stage } from '../stage.js';

/** A quarter of an hour between lookups becomes a second, or less. */
const THOUSANDTH = { timeScale: 0.001 };

/** No server listens there: a callback that fails is nothing to the flow. */
const CALLER = { callbackUrl: 'http://127.0.0.1:9/towline' };

/** Kinds that move nothing, and wait for how a record ends. */
export const watched: Scenes = Object.assign({}, ...likeKinds('watched').map(scenesOf)) as Scenes;

function scenesOf({ kind, record, begunBy, open, fails, overdue }: NamedKind): Scenes {
  const good = open.rest.at(-1) ?? '';
  const start = async (on: Stage, reference: string, ending: string, more = {}) => {
    await on.sandbox('/scenarios', { reference, ending, operation: record });
    const begun = begunBy?.(reference);
    if (begun !== undefined) await on.sandbox(begun.path, begun.body);
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
        const flow = await start(on, reference, open.ending, { timeScale: 1 });
        await noted(flow, 'status-looked-up');
        await move(on, reference, ...open.rest);
        await send(flow, trusted(good, { source: 'webhook' }));
        return flow;
      },
    },

    // Its caller gets a callback about it.
    [`${kind}-reported`]: {
      ends: 'completed',
      async play(on, reference) {
        const flow = await start(on, reference, open.ending, CALLER);
        await noted(flow, 'status-looked-up');
        await move(on, reference, ...open.rest);
        await send(flow, trusted(good));
        return flow;
      },
    },

    [`${kind}-declined`]: {
      ends: 'failed',
      reason: fails.reason,
      play: (on, reference) => start(on, reference, fails.ending),
    },

    [`${kind}-overdue`]: {
      ends: 'completed',
      async play(on, reference) {
        const flow = await start(on, reference, open.ending, { deadlineSeconds: 1_000 });
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
        const flow = await start(on, reference, open.ending, { timeScale: 1 });
        await noted(flow, 'status-looked-up');
        await cancel(flow);
        return flow;
      },
    },
  };
}
