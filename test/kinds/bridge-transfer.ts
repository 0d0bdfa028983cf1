import { type KindUnderTest, same } from '../harness/kind.js';

export default {
  like: 'own',
  hasLookup: false,
  record: 'createBridgeDeposit',
  posts: {
    createBridgeDeposit: {
      path: '/api/v3/deposit/crypto-bridge',
      step: null,
      terms: same('amount', 'source_currency', 'chain', 'token', 'crypto_payment', 'settlement', 'wallet_id'),
      booked: ['amount', 'source_currency'],
      reportedAt: 'COMPLETED',
    },
  },
  /** 1,000.50 KES to 100 ZAR, over an address on CELO: its refund can be sent as crypto. */
  input: (reference) => ({
    customer_key: 'customer-1',
    provider_reference_id: reference,
    amount: '1000.50',
    source_currency: 'KES',
    wallet_id: 'wallet-1',
    transaction_type: 'cross_border',
    chain: 'CELO',
    token: 'USDC',
    crypto_payment: { address: '0x1111111111111111111111111111111111111111', crypto_amount: '7.5' },
    settlement: {
      amount: '100',
      currency: 'ZAR',
      country: 'ZA',
      recipient: { phone_number: '+27821234567', account_holder_name: 'Canary Recipient' },
    },
  }),
  varied: (chance) => (chance.yes(0.5) ? { refund: { auto: true } } : {}),
  ordered: (reference) => [
    { operation: 'createBridgeDeposit', reference, amount: '1000.50', currency: 'KES', receiver: '+27821234567' },
    { operation: 'sendCrypto', reference: `${reference}.refund`, amount: '7.5', currency: 'USDC' },
  ],
  open: { ending: 'silent', rest: ['COMPLETED'] },
  fails: { ending: 'failed-early', reason: 'failed_at_service' },
  refunds: 'failed-then-refunded',
  endings: ['failed-then-refunded', 'failed-no-refund', 'failed-refund-begun', 'failed-early', 'no-callbacks-ever', 'no-settlement-ever', 'silent', 'slow', 'statuses-by-callback-only', 'completed-then-refunded', 'mismatching-amount', 'rejected', 'rate-expired'], // prettier-ignore
  overdue: 'no_settlement',
} satisfies KindUnderTest;
