import { flowOf } from '../src/flows/index.js';
import { needsSecondPerson } from '../src/flows/four-eyes.js';
import { decidedAmounts } from '../src/flows/largest-amount.js';
import { NO_FOUR_EYES } from '../src/protocol/four-eyes.js';
import { parseFlowId } from '../src/protocol/vocabulary.js';
import { isProven } from '../src/store/order-proof.js';
import type { ActivityDeps } from './deps.js';
import { storing } from './failures.js';
import type { OrderToAdmit, OrderVerdict } from './types.js';

/** For the audit log: the name may come from any client. */
const SHOWN_CHARACTERS = 100;

/** Checks a person's order to a flow: who gives it, and whether one person is enough. */
export function createOrderActivities(deps: ActivityDeps) {
  return {
    /**
     * Whether a flow may take an order. An order that came through a gateway is proven, and the gateway recorded it. An
     * order from another Temporal client is recorded here, under the name that the client gives; it never counts as one
     * of two persons. An order with a wrong proof is refused, whatever it orders.
     */
    admitOrder: ({ flowId, update, action, order, input, parked }: OrderToAdmit): Promise<OrderVerdict> =>
      storing(async (): Promise<OrderVerdict> => {
        const { store, fourEyes = NO_FOUR_EYES } = deps;
        const sent = { flowId, update, order };
        const proven = isProven(store, sent) || ((await store.refreshKeys()) && isProven(store, sent));
        const kind = parseFlowId(flowId)?.kind;
        const amounts = kind === undefined || input === undefined ? [] : decidedAmounts(flowOf(kind), input);
        const second = proven ? (order.proof?.second ?? null) : null;
        const isOneEnough = second !== null || !needsSecondPerson(fourEyes, action, amounts);
        // Another Temporal client has no proof to send: what has one was copied from another flow, or changed.
        const isForged = !proven && order.proof !== undefined;
        if (proven && isOneEnough) {
          return { kind: 'admitted', by: second === null ? order.actor : `${order.actor} and ${second}` };
        }
        const actor = shown(order.actor);
        const about = { flowId, action, actor, means: 'unproven' } as const;
        if (isForged || !isOneEnough) {
          const why = proven ? OTHER_SETTINGS : UNPROVEN;
          await store.audit.append({ ...about, kind: 'refused', details: { note: order.note ?? '', why } });
          const what = isForged ? 'has a proof of another order' : 'needs a second person';
          return { kind: 'refused', why: `"${action}" ${what}. ${why}` };
        }
        await store.audit.append({
          ...about,
          kind: 'order',
          details: { note: order.note ?? '', parked: parked ?? null },
        });
        return { kind: 'admitted', by: `${actor} (unproven)` };
      }),
  };
}

const UNPROVEN = 'Order it through a gateway (towline resolve, towline approve): only there it is known who orders.';
const OTHER_SETTINGS = 'The gateway that it came through has other settings of FOUR_EYES than this worker.';

const shown = (actor: string): string => actor.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, SHOWN_CHARACTERS);
