import type { OrderToAdmit } from '../../activities/types.js';
import { act } from './activities.js';
import type { FlowView, Parked } from '../../src/api/flow.js';
import { orderRefused } from './updates.js';
import { STORE, STORE_PATIENCE_MS } from './policies.js';
import { within } from './waits.js';

/** The flow to which an order is given. */
interface Admitting {
  readonly flowId: string;
  readonly timeScale: number;
  readonly parked: Parked | null;
  readonly scaled: (ms: number) => number;
  readonly view: () => FlowView;
}

type RequestedAction = Pick<OrderToAdmit, 'update' | 'action' | 'input'>;

/**
 * Takes an order only if the person who gave it may give it alone, or together with the one who confirmed it; and if it
 * is recorded. From then on its actor is the proven one, or the claimed name marked as unproven.
 *
 * @param patienceMs how long the store may be unavailable until the order is refused; once the flow ends, it is refused at once
 * @throws ApplicationFailure, which refuses the update
 */
export async function admit<Order extends OrderToAdmit['order']>(
  flow: Admitting,
  requested: RequestedAction,
  order: Order,
  patienceMs: number = STORE_PATIENCE_MS,
): Promise<Order> {
  const { reason, since, evidence } = flow.parked ?? {};
  const parked =
    reason === undefined || since === undefined ? {} : { parked: { reason, since, evidence: evidence ?? {} } };
  const hasEnded = () => flow.view().outcome !== null;
  const question = { ...requested, ...parked, flowId: flow.flowId, order };
  const verdict = await within(
    flow,
    patienceMs,
    () => act(STORE, `Who orders ${requested.action}`, flow.timeScale).admitOrder(question),
    hasEnded,
  );
  if (verdict === undefined && hasEnded()) throw orderRefused('flow_ended', 'The flow has ended.');
  if (verdict === undefined) {
    throw orderRefused('store_unavailable', 'The store cannot record the order now: give it again later.');
  }
  if (verdict.kind === 'refused') throw orderRefused('needs_second_person', verdict.why);
  return { ...order, actor: verdict.by };
}
