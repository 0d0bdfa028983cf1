import type { OperationArgument } from '../../src/contract/index.js';

/** Secrets that must never be seen in an error. */
export const CANARIES = {
  token: 'canary-token-5b1f9e',
  card: '4111111111111111',
  cvv: '987',
  phone: '+256700123456',
  holder: 'Canary Holder',
};

export const bridgeDeposit: OperationArgument<'createBridgeDeposit'> = {
  customer_key: 'cust-1',
  provider_reference_id: 'ref-1',
  amount: 50_000,
  source_currency: 'UGX',
  wallet_id: 'wallet-1',
  transaction_type: 'cross_border',
  chain: 'LIGHTNING',
  token: 'MSAT',
  crypto_payment: { bolt11: 'lnbc1canary', amount_msat: 21_000 },
  settlement: { amount: 120.5, currency: 'KES', recipient: { phone_number: CANARIES.phone } },
  callback_url: 'https://caller.example/callbacks',
};

export const bridgeDepositAnswer = {
  success: true,
  message: 'created',
  data: { kotani_reference_id: 'k-1', provider_reference_id: 'ref-1', status: 'DEPOSIT_INITIATED' },
};

export const cardDeposit: OperationArgument<'createCardDeposit'> = {
  fullName: CANARIES.holder,
  phoneNumber: CANARIES.phone,
  currency: 'ZAR',
  amount: 100,
  referenceId: 'ref-3',
  card: { number: CANARIES.card, holder: CANARIES.holder, expiryMonth: '12', expiryYear: '2031', cvv: CANARIES.cvv },
};
