import { UPDATES } from '../../../src/protocol/vocabulary.js';
import type { FlowReport } from '../../../src/protocol/messages.js';
import { orderFlow } from '../../../src/gateway/flows/send-order.js';
import { fromPayload } from '../temporal/payloads.js';
import { isOpen, type Run } from '../temporal/run.js';
import type { World } from '../world/world.js';
import type { Journal, PersonsOrder } from './driver.js';

/** Orders that one flow gets at most; after them it stays parked. */
const MOST_ORDERS = 3;
const LOOK_EVERY_MS = 60_000;

/**
 * People who decide about parked flows, some minutes after they were parked. An honest one orders only what is true by
 * the service's books; a careless one orders anything that is legal, and is to blame for the result.
 */
export function startPersons(
  world: World,
  journal: Journal & { readonly orders: PersonsOrder[] },
  options: { readonly careless: boolean },
) {
  const { chance, timeline, trace, temporal } = world;
  const planned = new Set<string>();
  const left = new Map<string, number>();
  let ordersSent = 0;

  const look = (): void => {
    for (const run of temporal.runs) {
      const ordersLeft = left.get(run.workflowId) ?? MOST_ORDERS;
      if (!isOpen(run) || run.attribute !== 'parked' || planned.has(run.workflowId) || ordersLeft === 0) continue;
      planned.add(run.workflowId);
      left.set(run.workflowId, ordersLeft - 1);
      timeline.in(chance.int(60_000, 40 * 60_000), () => decide(run.workflowId));
    }
    if (chance.yes(0.02)) cancelOne();
    timeline.in(LOOK_EVERY_MS, look, true);
  };

  async function decide(flowId: string): Promise<void> {
    planned.delete(flowId);
    const [gateway] = world.gateways();
    const report = (await temporal.query(flowId, 'flow')) as FlowReport | undefined;
    const parked = report?.view.parked;
    if (parked == null || gateway === undefined) return;
    const choice = options.careless ? chance.one(parked.actions) : honest(flowId, parked.actions);
    if (choice === undefined) return;
    const order: PersonsOrder = {
      atMs: timeline.nowMs,
      flowId,
      reason: parked.reason,
      action: choice,
      note: options.careless ? 'careless' : 'honest',
      outcome: undefined,
    };
    journal.orders.push(order);
    trace.add('person', `${choice} for ${flowId}`, `parked: ${parked.reason}`);
    orderFlow(gateway.client, flowId, {
      update: UPDATES.resolve,
      id: `order-${(ordersSent += 1)}`,
      order: { action: choice, note: order.note, actor: 'person' },
    }).then(
      // prettier-ignore
      (outcome) => {
        order.outcome = outcome.kind;
        trace.add('person', `${choice} for ${flowId}`, outcome.kind + ('message' in outcome ? `: ${outcome.message}` : ''));
        gateway.settler.checkSoon(flowId);
        return undefined;
      },
      (error: Error) => {
        order.outcome = error.name;
      },
    );
  }

  /** By the service's own books: nothing was executed, or it was and ended so. Undefined: wait. */
  function honest(flowId: string, actions: readonly string[]): string | undefined {
    const flow = journal.flows.find((one) => one.flowId === flowId);
    const standing = world.standingOf(flow);
    const may: Readonly<Record<string, boolean>> = {
      'send-again': standing === 'none',
      'close-not-executed': standing === 'none',
      'mark-completed': standing === 'settled',
      'mark-failed': standing === 'failed',
      'mark-refunded': standing === 'refunded',
      'refund-now': standing === 'owed',
      'close-without-refund': false,
      'trust-settlement': false,
      'keep-waiting': true,
      'accept-event': false,
      'dismiss-event': true,
      'report-again': true,
    };
    const possible = actions.filter((action) => may[action] === true);
    const decisive = possible.filter((action) => action !== 'keep-waiting');
    if (decisive.length > 0) return chance.one(decisive);
    return possible[0];
  }

  /** A person wants a flow to end. */
  function cancelOne(): void {
    const open = temporal.runs.filter((run) => isOpen(run) && run.type !== 'callbackDelivery');
    const [gateway] = world.gateways();
    if (open.length === 0 || gateway === undefined) return;
    const { workflowId } = chance.one(open);
    trace.add('person', `cancel ${workflowId}`);
    orderFlow(gateway.client, workflowId, {
      update: UPDATES.cancel,
      id: `order-${(ordersSent += 1)}`,
      order: { actor: 'person' },
    }).then(
      (outcome) => trace.add('person', `cancel ${workflowId}`, outcome.kind),
      () => undefined,
    );
  }

  timeline.in(LOOK_EVERY_MS, look, true);
  return {
    /** No person has anything left to do about this flow. */
    isDone: (flowId: string) => !planned.has(flowId) && left.get(flowId) === 0,
  };
}

/** A closed run's report about its flow. */
export function closingView(run: Run): FlowReport['view'] | undefined {
  const said =
    run.status === 'COMPLETED'
      ? fromPayload(run.result)
      : fromPayload(run.failure?.applicationFailureInfo?.details?.payloads?.[0]);
  return (said as FlowReport | undefined)?.view;
}
