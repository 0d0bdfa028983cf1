import { parseFlowId, UPDATES } from '../../../src/protocol/vocabulary.js';
import type { FlowReport, Outcome, Parked } from '../../../src/api/flow.js';
import { orderFlow } from '../../../src/gateway/flows/give-order.js';
import { fromPayload } from '../temporal/payloads.js';
import { isOpen, type Run } from '../temporal/run.js';
import type { TemporalServer } from '../temporal/temporal-server.js';
import type { World } from '../world/world.js';
import type { Ended } from '../invariants/safety.js';
import { CARELESS, type Journal, type PersonsOrder } from './driver.js';

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
  options: { readonly careless: boolean; readonly resolved: (ended: Ended) => void },
) {
  const { chance, timeline, trace, temporal } = world;
  const planned = new Set<string>();
  const left = new Map<string, number>();
  let ordersSent = 0;

  const look = (): void => {
    for (const run of temporal.runs) {
      const ordersLeft = left.get(run.workflowId) ?? MOST_ORDERS;
      if (!waitsForPerson(temporal, run) || planned.has(run.workflowId) || ordersLeft === 0) continue;
      planned.add(run.workflowId);
      left.set(run.workflowId, ordersLeft - 1);
      timeline.in(chance.int(60_000, 40 * 60_000), () => decide(run.workflowId));
    }
    if (chance.yes(0.02)) cancelOne();
    timeline.in(LOOK_EVERY_MS, look, true);
  };

  async function decide(flowId: string): Promise<void> {
    planned.delete(flowId);
    if (temporal.current(flowId)?.status === 'TERMINATED') return void decideTerminated(flowId);
    const [gateway] = world.gateways();
    const report = (await temporal.query(flowId, 'flow')) as FlowReport | undefined;
    const parked = report?.view.parked;
    if (parked == null || gateway === undefined) return;
    const order = orderOf(flowId, parked);
    if (order === undefined) return;
    const choice = order.action;
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

  function orderOf(flowId: string, { reason, actions }: Parked): PersonsOrder | undefined {
    const action = options.careless ? chance.one(actions) : honest(flowId, actions);
    if (action === undefined) return undefined;
    const note = options.careless ? CARELESS : 'honest';
    const order: PersonsOrder = { atMs: timeline.nowMs, flowId, reason, action, note, outcome: undefined };
    journal.orders.push(order);
    trace.add('person', `${action} for ${flowId}`, `parked: ${reason}`);
    return order;
  }

  /** One that was terminated in the UI takes no order but to be resumed. */
  async function decideTerminated(flowId: string): Promise<void> {
    const [gateway] = world.gateways();
    const address = parseFlowId(flowId);
    if (gateway === undefined || address === undefined) return;
    const show = () => gateway.showTerminated({ ...address, flowId });
    try {
      const { parked, outcome } = await show();
      if (outcome !== null) return known(flowId, outcome);
      const order = parked === null ? undefined : orderOf(flowId, parked);
      if (order === undefined) return;
      order.outcome = gateway.resume(flowId) ? 'taken' : 'it runs';
      trace.add('person', `${order.action} for ${flowId}`, order.outcome);
    } catch (error) {
      trace.add('person', `looks at ${flowId}`, (error as Error).message);
    }
  }

  function known(flowId: string, { state, reason }: Outcome): void {
    left.set(flowId, 0);
    trace.add('person', `sees ${flowId}`, `${state} ${reason ?? ''}`);
    options.resolved({ flowId, atMs: timeline.nowMs, state, reason });
  }

  /** By the service's own books: nothing was executed, or it was and ended so. Undefined: wait. */
  function honest(flowId: string, actions: readonly string[]): string | undefined {
    const flow = journal.flows.find((one) => one.flowId === flowId);
    const state = world.paymentStateOf(flow);
    const may: Readonly<Record<string, boolean>> = {
      'send-again': state === 'none',
      'close-not-executed': state === 'none',
      'mark-completed': state === 'settled',
      'mark-failed': state === 'failed',
      'mark-refunded': state === 'refunded',
      'refund-now': state === 'owed',
      'close-without-refund': false,
      'trust-settlement': false,
      'keep-waiting': true,
      'accept-event': false,
      'dismiss-event': true,
      'report-again': true,
      resume: true,
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

/** Parked, or terminated and not reset since. */
export const waitsForPerson = (temporal: TemporalServer, run: Run): boolean =>
  isOpen(run)
    ? run.attribute === 'parked'
    : run.status === 'TERMINATED' && run.type !== 'callbackDelivery' && temporal.current(run.workflowId) === run;

/** A closed run's report about its flow. */
export function closingView(run: Run): FlowReport['view'] | undefined {
  const said =
    run.status === 'COMPLETED'
      ? fromPayload(run.result)
      : fromPayload(run.failure?.applicationFailureInfo?.details?.payloads?.[0]);
  return (said as FlowReport | undefined)?.view;
}
