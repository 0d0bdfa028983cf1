import { Context } from '@temporalio/activity';
import { eventOfRow } from '../src/flows/event-of-row.js';
import type { FlowEvent } from '../src/protocol/messages.js';
import { createBridgeActivities } from './bridge-transfer.js';
import { createCallbackActivities, createUndeliveredActivities } from './deliver-callback.js';
import { createCardActivities } from './card-deposit.js';
import { createClaimActivities } from './claims.js';
import type { ActivityDeps } from './deps.js';
import { createFlowStepActivities } from './flow-steps.js';
import { createInvoicePaidActivities } from './invoice-paid.js';
import { createOrderActivities } from './orders.js';
import { createRefundActivities, createRefundInvoiceActivities } from './refund.js';
import { createSettleActivities } from './settle-unknown.js';
import { readFailure, storing } from './failures.js';
import { withHeartbeat } from './timing.js';
import { queueOfActivity, type Queue } from '../src/protocol/task-queues.js';
import { parkedMatterId, type MatterContent } from '../src/protocol/matters.js';
import type { InboxRow } from '../src/protocol/events.js';

/** Every activity of a worker of all flows. Their names are durable: running flows hold on to them. */
export function createActivities(deps: ActivityDeps) {
  return beating(deps, {
    ...createBridgeActivities(deps),
    ...createRefundActivities(deps),
    ...createRefundInvoiceActivities(deps),
    ...createInvoicePaidActivities(deps),
    ...createSettleActivities(deps),
    ...createClaimActivities(deps),
    ...createOrderActivities(deps),
    ...createUpkeepActivities(deps),
    ...createFlowStepActivities(deps),
    ...createUndeliveredActivities(deps),
  });
}

/** Every activity that a worker of one task queue has. */
export const activitiesOn = (deps: ActivityDeps, queue: Queue) =>
  ofQueue({ ...createActivities(deps), ...createCallbackActivities(deps) }, queue);

/** Of these activities those that run on this task queue. */
export const ofQueue = <Activity>(activities: Readonly<Record<string, Activity>>, queue: Queue) =>
  Object.fromEntries(Object.entries(activities).filter(([name]) => queueOfActivity(name) === queue));

/** The same activities, each of which beats while it runs. */
function beating<Table extends Record<string, (order: never) => Promise<unknown>>>(
  { clock }: Pick<ActivityDeps, 'clock'>,
  activities: Table,
): Table {
  const entries = Object.entries(activities).map(([name, activity]) => [
    name,
    (order: never) => withHeartbeat(clock, () => activity(order)),
  ]);
  return Object.fromEntries(entries) as Table;
}

/** What a flow may call: those, and the ones on task queues of their own, of callbacks and of a gateway's cards. */
export type Activities = ReturnType<typeof createActivities> &
  ReturnType<typeof createCallbackActivities> &
  ReturnType<typeof createCardActivities>;
export { createCallbackActivities, createCardActivities };
export type { CardSource } from './card-deposit.js';
export type { ActivityDeps } from './deps.js';

/** What every kind of flow needs now and then. */
function createUpkeepActivities(deps: ActivityDeps) {
  return {
    /** The trusted events of this flow that the inbox holds, and the latest untrusted ones: for a last lookup at a deadline. */
    async readInbox(order: { flowId: string }): Promise<readonly FlowEvent[]> {
      try {
        const { flowId } = order;
        // Asked for by themselves: a flood of forgeries must not hide the genuine ones.
        const trusted = await deps.store.inbox.list({ flowId, trusted: true, limit: 200 });
        const untrusted = await deps.store.inbox.list({ flowId, trusted: false, limit: 20 });
        return [...untrusted, ...trusted].toReversed().flatMap((row) => eventFor(flowId, row));
      } catch (error) {
        throw readFailure(error);
      }
    },

    /** Asks Temporal to cancel this very execution, so that it can close as Cancelled. */
    async requestOwnCancel(order: { flowId: string }): Promise<void> {
      const { client, info } = Context.current();
      await client.workflow.getHandle(order.flowId, info.workflowExecution?.runId).cancel();
    },

    /**
     * Nothing, on the money queue: for cards, which another queue sends. Stopping or slowing the money queue so stops or
     * slows them, too.
     */
    takeTurn: () => Promise.resolve(),

    /** Opens the matter of a parked flow, about which people are notified. Again once a day: so it is never forgotten. */
    async notifyParked(order: Omit<MatterContent, 'kind'> & { flowId: string }): Promise<void> {
      const { flowId, since, reason } = order;
      deps.log.warn({ flowId, reason, since }, 'a flow is parked and waits for a person');
      await storing(() => deps.store.matters.open(parkedMatterId(flowId, since), { kind: 'parked', ...order }));
    },

    /** The flow goes on: nothing is left to decide about that. */
    async notifyUnparked({ flowId, since }: { flowId: string; since: string }): Promise<void> {
      await storing(() => deps.store.matters.resolve(parkedMatterId(flowId, since)));
    },
  };
}

/** As the gateway would deliver it, so that the flow does not take by this way what it would not be given by that one. */
function eventFor(flowId: string, row: InboxRow): readonly FlowEvent[] {
  // Without its body it says nothing, and its id would be taken: a worker that has the key could not deliver it any more.
  if (row.body === undefined) return [];
  const event = eventOfRow(flowId, row);
  return event === undefined || event === 'conflicting' ? [] : [event];
}
