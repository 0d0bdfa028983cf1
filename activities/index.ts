import { createBridgeActivities } from './bridge-transfer.js';
import { createClaimActivities } from './claims.js';
import { createCryptoSendActivities } from './await-crypto-send.js';
import type { ActivityDeps } from './deps.js';
import { createFlowStepActivities } from './flow-steps.js';
import { createUpkeepActivities } from './flow-upkeep.js';
import { createRefundActivities } from './refund.js';
import { createSettleActivities } from './settle-unknown.js';

/** Every activity of the worker. Their names are durable: running flows hold on to them. */
export function createActivities(deps: ActivityDeps) {
  return {
    ...createBridgeActivities(deps),
    ...createRefundActivities(deps),
    ...createCryptoSendActivities(deps),
    ...createSettleActivities(deps),
    ...createClaimActivities(deps),
    ...createUpkeepActivities(deps),
    ...createFlowStepActivities(deps),
  };
}

export type Activities = ReturnType<typeof createActivities>;
export type { ActivityDeps, ActivityLog } from './deps.js';
