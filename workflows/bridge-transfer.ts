import { bridgeTransferPlan } from './core/bridge/plan.js';
import { coreFlow } from './core/flow.js';

export const bridgeTransfer = coreFlow(bridgeTransferPlan);
