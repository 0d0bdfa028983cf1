/** Every flow kind, a line each, by its name. One that `FlowKind` names and that is not here does not compile. */
export { bridgeTransferFlow as 'bridge-transfer' } from './bridge-transfer.js';
export { invoicePaymentFlow as 'invoice-payment' } from './invoice-payment.js';
export { onrampFlow as 'onramp' } from './onramp.js';
export { cryptoSendFlow as 'crypto-send' } from './crypto-send.js';
export { offrampFlow as 'offramp' } from './offramp.js';
export { bankCheckoutFlow as 'bank-checkout' } from './bank-checkout.js';
export { cardDepositFlow as 'card-deposit' } from './card-deposit.js';
export { bankWithdrawalFlow as 'bank-withdrawal' } from './bank-withdrawal.js';
export { kycCheckFlow as 'kyc-check' } from './kyc-check.js';
export { mobileMoneyWatchFlow as 'mobile-money-watch' } from './mobile-money-watch.js';
export { onChainWatchFlow as 'on-chain-watch' } from './on-chain-watch.js';
