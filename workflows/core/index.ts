import { bankWithdrawalPlan } from './bank-withdrawal.js';
import { cryptoSendPlan } from './crypto-send.js';
import { coreFlow } from './flow.js';

/** The kinds that the engine of rules runs. */
export const cryptoSend = coreFlow(cryptoSendPlan);
export const bankWithdrawal = coreFlow(bankWithdrawalPlan);
