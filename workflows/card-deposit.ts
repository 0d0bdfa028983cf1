import { cardDepositPlan } from './core/card-deposit.js';
import { coreFlow } from './core/flow.js';

/** A card deposit: send it with the card that one gateway keeps for a minute → 3-D Secure → paid. */
export const cardDeposit = coreFlow(cardDepositPlan);
