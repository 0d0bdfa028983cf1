import type { KindUnderTest } from '../harness/kind.js';
import { EVM_ADDRESS, MOBILE_MONEY } from '../harness/parties.js';

export default {
  like: 'watched',
  hasLookup: true,
  record: 'onChainDeposit',
  posts: {},
  begunBy: (referenceId) => ({
    path: '/on-chain-deposits',
    body: {
      referenceId,
      fiatAmount: 250.5,
      currency: 'KES',
      chain: 'CELO',
      token: 'USDC',
      receiverAddress: EVM_ADDRESS,
      mobileMoney: MOBILE_MONEY,
    },
  }),
  input: (referenceId) => ({ referenceId }),
  ordered: () => [],
  open: { ending: 'never', rest: ['CRYPTO_PENDING', 'PROCESSING', 'SUCCESS'] },
  fails: { ending: 'failed', reason: 'failed_at_service' },
  endings: ['failed', 'cancelled', 'expired', 'slow', 'never', 'success-after-timeout', 'crypto-failed', 'crypto-never', 'declined'], // prettier-ignore
  overdue: 'no_settlement',
  asksAtStart: 1,
} satisfies KindUnderTest;
