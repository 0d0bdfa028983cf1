import { Context } from '@temporalio/activity';
import type { FlowEvent } from '../src/protocol/messages.js';
import { createBridgeActivities } from './bridge-transfer.js';
import { createCallbackActivities, createUndeliveredActivities } from './deliver-callback.js';
import { createCardActivities } from './card-deposit.js';
import { createClaimActivities } from './claims.js';
import type { ActivityDeps } from './deps.js';
import { createEngineActivities } from './engine-steps.js';
import { createFlowStepActivities } from './flow-steps.js';
import { createInvoicePaidActivities } from './invoice-paid.js';
import { createOrderActivities } from './orders.js';
import { readInbox, type InboxOrder } from './read-inbox.js';
import { createRefundActivities, createRefundInvoiceActivities } from './refund.js';
import { createSettleActivities } from './settle-unknown.js';
import { storing } from './failures.js';
import { withHeartbeat } from './timing.js';
import { queueOfActivity, type Queue } from '../src/protocol/task-queues.js';
import { parkedMatterId, type MatterContent } from '../src/protocol/matters.js';

/** What the service answered is written by its flow if its send could not. */
function createRecordActivities(deps: ActivityDeps) {
  const { recordAnswer, recordRejection } = createClaimActivities(deps);
  return { recordAnswer, recordRejection };
}

/** The first check of the input is a part of `checkFlow`. */
function createStepActivities(deps: ActivityDeps) {
  const { prepareFlow: _prepareFlow, ...steps } = createFlowStepActivities(deps);
  return steps;
}

/** Every activity of a worker that runs all flows. Their names are durable: running flows depend on them. */
export function createActivities(deps: ActivityDeps) {
  return beating(deps, {
    ...createBridgeActivities(deps),
    ...createRefundActivities(deps),
    ...createRefundInvoiceActivities(deps),
    ...createInvoicePaidActivities(deps),
    ...createSettleActivities(deps),
    ...createRecordActivities(deps),
    ...createOrderActivities(deps),
    ...createUpkeepActivities(deps),
    ...createStepActivities(deps),
    ...createEngineActivities(deps),
    ...createUndeliveredActivities(deps),
  });
}

/** Every activity that a worker of one task queue has. */
export const activitiesOn = (deps: ActivityDeps, queue: Queue) =>
  ofQueue({ ...createActivities(deps), ...createCallbackActivities(deps) }, queue);

/** Of these activities those that run on this task queue; a flow's first check also runs beside the workflows. */
export const ofQueue = <Activity>(activities: Readonly<Record<string, Activity>>, queue: Queue) =>
  Object.fromEntries(
    Object.entries(activities).filter(
      ([name]) => queueOfActivity(name) === queue || (queue === 'flows' && name === 'checkBridgeTransfer'),
    ),
  );

/** The same activities, each with a heartbeat while it runs. */
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

/**
 * The activities that a flow may call: these, and those on other task queues, for callbacks and for a gateway's cards.
 */
export type Activities = ReturnType<typeof createActivities> &
  ReturnType<typeof createCallbackActivities> &
  ReturnType<typeof createCardActivities>;
export { createCallbackActivities, createCardActivities };
export type { CardSource } from './card-deposit.js';
export type { ActivityDeps } from './deps.js';

/** Activities that every kind of flow needs. */
function createUpkeepActivities(deps: ActivityDeps) {
  return {
    readInbox: (order: InboxOrder): Promise<readonly FlowEvent[]> => readInbox(deps, order),

    /** Asks Temporal to cancel this very execution, so that it can close as Cancelled. */
    async requestOwnCancel(order: { flowId: string }): Promise<void> {
      const { client, info } = Context.current();
      await client.workflow.getHandle(order.flowId, info.workflowExecution?.runId).cancel();
    },

    /**
     * Does nothing, on the money queue: for cards, which another queue sends. So stopping or slowing the money queue
     * also stops or slows cards.
     */
    takeTurn: () => Promise.resolve(),

    /** Opens the matter of a parked flow. Called again once a day, so that it is never forgotten. */
    async notifyParked(order: Omit<MatterContent, 'kind'> & { flowId: string }): Promise<void> {
      const { flowId, since, reason } = order;
      deps.log.warn({ flowId, reason, since }, 'a flow is parked and waits for a person');
      await storing(() => deps.store.matters.open(parkedMatterId(flowId, since), { kind: 'parked', ...order }));
    },

    /** The flow continues: closes its matter. */
    async notifyUnparked({ flowId, since }: { flowId: string; since: string }): Promise<void> {
      await storing(() => deps.store.matters.resolve(parkedMatterId(flowId, since)));
    },
  };
}
