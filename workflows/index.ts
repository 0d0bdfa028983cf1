export { bankCheckout } from './bank-checkout.js';
export { bankWithdrawal } from './bank-withdrawal.js';
export { bridgeTransfer } from './bridge-transfer.js';
export { cardDeposit } from './card-deposit.js';
export { cryptoSend } from './crypto-send.js';
export { offramp } from './offramp.js';
export { onramp } from './onramp.js';
export { kycCheck } from './kyc-check.js';
