import { workflowOf } from './engine/flow.js';
import { bankCheckoutPlan } from './bank-checkout.js';
import { bankWithdrawalPlan } from './bank-withdrawal.js';
import { bridgeTransferPlan } from './bridge-transfer.js';
import { cardDepositPlan } from './card-deposit.js';
import { cryptoSendPlan } from './crypto-send.js';
import { invoicePaymentPlan } from './invoice-payment.js';
import { kycCheckPlan } from './kyc-check.js';
import { mobileMoneyWatchPlan } from './mobile-money-watch.js';
import { offrampPlan } from './offramp.js';
import { onChainWatchPlan } from './on-chain-watch.js';
import { onrampPlan } from './onramp.js';

export { callbackDelivery } from './callback-delivery.js';

export const bankCheckout = workflowOf(bankCheckoutPlan);
export const bankWithdrawal = workflowOf(bankWithdrawalPlan);
export const bridgeTransfer = workflowOf(bridgeTransferPlan);
export const cardDeposit = workflowOf(cardDepositPlan);
export const cryptoSend = workflowOf(cryptoSendPlan);
export const invoicePayment = workflowOf(invoicePaymentPlan);
export const kycCheck = workflowOf(kycCheckPlan);
export const mobileMoneyWatch = workflowOf(mobileMoneyWatchPlan);
export const offramp = workflowOf(offrampPlan);
export const onChainWatch = workflowOf(onChainWatchPlan);
export const onramp = workflowOf(onrampPlan);
