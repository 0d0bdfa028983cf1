import { bankCheckoutFlow } from './bank-checkout.js';
import { bankWithdrawalFlow } from './bank-withdrawal.js';
import { bridgeTransferFlow } from './bridge-transfer.js';
import { cardDepositFlow } from './card-deposit.js';
import { cryptoSendFlow } from './crypto-send.js';
import { offrampFlow } from './offramp.js';
import { onrampFlow } from './onramp.js';
import type { FlowDefinition } from './flow.js';
import { invoicePaymentFlow } from './invoice-payment.js';
import { kycCheckFlow } from './kyc-check.js';
import { mobileMoneyWatchFlow } from './mobile-money-watch.js';
import type { FlowKind } from '../protocol/vocabulary.js';

/** The flow kinds that this version can run. A new kind is one line here. */
export const flows: Readonly<Partial<Record<FlowKind, FlowDefinition<never>>>> = {
  'bridge-transfer': bridgeTransferFlow as FlowDefinition<never>,
  'crypto-send': cryptoSendFlow as FlowDefinition<never>,
  onramp: onrampFlow as FlowDefinition<never>,
  offramp: offrampFlow as FlowDefinition<never>,
  'invoice-payment': invoicePaymentFlow as FlowDefinition<never>,
  'bank-checkout': bankCheckoutFlow as FlowDefinition<never>,
  'bank-withdrawal': bankWithdrawalFlow as FlowDefinition<never>,
  'kyc-check': kycCheckFlow as FlowDefinition<never>,
  'card-deposit': cardDepositFlow as FlowDefinition<never>,
  'mobile-money-watch': mobileMoneyWatchFlow as FlowDefinition<never>,
};

/** The definition of a kind, with its input's type hidden: parse with `input` first. */
export function flowOf(kind: FlowKind): FlowDefinition | undefined {
  return flows[kind];
}
