import { type KindUnderTest, same } from '../harness/kind.js';
import { EVM_ADDRESS } from '../harness/parties.js';

export default {
  like: 'looked-up',
  hasLookup: true,
  record: 'sendCrypto',
  posts: {
    sendCrypto: {
      path: '/api/v3/onramp/crypto',
      step: 'send',
      terms: same('cryptoAmount', 'receiverAddress', 'chain', 'token'),
      booked: ['cryptoAmount', 'token'],
    },
  },
  input: (referenceId) => ({
    referenceId,
    receiverAddress: EVM_ADDRESS,
    chain: 'CELO',
    token: 'USDC',
    cryptoAmount: '12.5',
  }),
  ordered: (reference) => [
    { operation: 'sendCrypto', reference, amount: '12.5', currency: 'USDC', receiver: EVM_ADDRESS },
  ],
  open: { ending: 'never', rest: ['SUCCESSFUL'] },
  fails: { ending: 'failed', reason: 'failed_at_service' },
  endings: ['failed', 'never', 'slow', 'no-callbacks-ever', 'success-after-timeout', 'rejected', 'insufficient-funds'],
  overdue: 'no_settlement',
  // It has no webhook of its own: it polls from two seconds after the send on.
  asksAtStart: Number.POSITIVE_INFINITY,
} satisfies KindUnderTest;
