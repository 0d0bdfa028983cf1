import { bankCheckoutFlow } from './bank-checkout.js';
import { bankWithdrawalFlow } from './bank-withdrawal.js';
import { bridgeTransferFlow } from './bridge-transfer.js';
import { cardDepositFlow } from './card-deposit.js';
import { cryptoSendFlow } from './crypto-send.js';
import { offrampFlow } from './offramp.js';
import { onrampFlow } from './onramp.js';
import type { AnyFlow, FlowDefinition } from './flow.js';
import { invoicePaymentFlow } from './invoice-payment.js';
import { kycCheckFlow } from './kyc-check.js';
import { mobileMoneyWatchFlow } from './mobile-money-watch.js';
import type { FlowKind } from '../protocol/vocabulary.js';

/** Every flow kind, one line each: a kind that is missing here does not compile. */
export const flows = {
  'bridge-transfer': bridgeTransferFlow,
  'crypto-send': cryptoSendFlow,
  onramp: onrampFlow,
  offramp: offrampFlow,
  'invoice-payment': invoicePaymentFlow,
  'bank-checkout': bankCheckoutFlow,
  'bank-withdrawal': bankWithdrawalFlow,
  'kyc-check': kycCheckFlow,
  'card-deposit': cardDepositFlow,
  'mobile-money-watch': mobileMoneyWatchFlow,
} satisfies Record<FlowKind, AnyFlow>;

/** The definition of a kind, with its input's type hidden: parse with `input` first. */
export function flowOf(kind: FlowKind): FlowDefinition {
  const definition: AnyFlow = flows[kind];
  return definition;
}
