import { createBridgeActivities } from './bridge-transfer.js';
import { createCallbackActivities } from './deliver-callback.js';
import { createCardActivities } from './card-deposit.js';
import { createClaimActivities } from './claims.js';
import type { ActivityDeps } from './deps.js';
import { createFlowStepActivities } from './flow-steps.js';
import { createUpkeepActivities } from './flow-upkeep.js';
import { createInvoicePaidActivities } from './invoice-paid.js';
import { createRefundActivities } from './refund.js';
import { createRefundInvoiceActivities } from './refund-invoice.js';
import { createSettleActivities } from './settle-unknown.js';

/** Every activity of a worker of all flows. Their names are durable: running flows hold on to them. */
export function createActivities(deps: ActivityDeps) {
  return {
    ...createBridgeActivities(deps),
    ...createRefundActivities(deps),
    ...createRefundInvoiceActivities(deps),
    ...createInvoicePaidActivities(deps),
    ...createSettleActivities(deps),
    ...createClaimActivities(deps),
    ...createUpkeepActivities(deps),
    ...createFlowStepActivities(deps),
    ...createCallbackActivities(deps),
  };
}

/** What a flow may call: those, and the ones of the worker inside a gateway, on its own task queue. */
export type Activities = ReturnType<typeof createActivities> & ReturnType<typeof createCardActivities>;
export { createCardActivities };
export type { CardSource } from './card-deposit.js';
export type { ActivityDeps, ActivityLog } from './deps.js';
