import { bridgeTransferPlan } from './bridge-transfer.js';
import { bankCheckoutPlan } from './bank-checkout.js';
import { bankWithdrawalPlan } from './bank-withdrawal.js';
import { cardDepositPlan } from './card-deposit.js';
import { cryptoSendPlan } from './crypto-send.js';
import { invoicePaymentPlan } from './invoice-payment.js';
import { kycCheckPlan } from './kyc-check.js';
import { mobileMoneyWatchPlan } from './mobile-money-watch.js';
import { onChainWatchPlan } from './on-chain-watch.js';
import { offrampPlan } from './offramp.js';
import { onrampPlan } from './onramp.js';
import type { Plan } from './engine/plan.js';

/** Every kind that the rules decide. */
export const PLANS = {
  onramp: onrampPlan,
  'crypto-send': cryptoSendPlan,
  offramp: offrampPlan,
  'bank-checkout': bankCheckoutPlan,
  'card-deposit': cardDepositPlan,
  'bank-withdrawal': bankWithdrawalPlan,
  'bridge-transfer': bridgeTransferPlan,
  'invoice-payment': invoicePaymentPlan,
  'kyc-check': kycCheckPlan,
  'mobile-money-watch': mobileMoneyWatchPlan,
  'on-chain-watch': onChainWatchPlan,
} as const satisfies Readonly<Record<string, Plan>>;
