import { foldStatus, NOTHING_SEEN } from '../../workflows/bridge/statuses.js';
import type { Transfer } from '../../workflows/bridge/transfer.js';
import type { BridgeStatus } from '../../src/contract/vocabulary.js';
import { BridgeTransferInput } from '../../src/flows/bridge-transfer.js';
import { transferInput } from '../harness/inputs.js';

/** Terms of a refund as the service gives them: 7.5 USDC, as much as was to come in, to an address on the same chain. */
export const REFUND = {
  method: 'CRYPTO_ADDRESS',
  fallbackMethod: 'CRYPTO_ADDRESS',
  fallbackAddress: '0x2222222222222222222222222222222222222222',
  chain: 'CELO',
  token: 'USDC',
  cryptoAmount: '7.5',
  lifeMs: null,
} as const;

/** A transfer of 1,000.50 KES to 100 ZAR whose deposit was accepted, and about which a test knows more. */
export function knownTransfer({ input = {}, ...more }: Partial<Omit<Transfer, 'input'>> & { input?: object } = {}) {
  return {
    input: { ...BridgeTransferInput.parse(transferInput('r-1')), refund: { auto: true }, ...input },
    pin: 'pin-1',
    flowId: 'bridge-transfer/r-1',
    reference: 'r-1',
    unverified: [],
    deposit: { serviceReference: 'service-1', status: 'PENDING', paymentHash: null, refund: REFUND },
    statuses: NOTHING_SEEN,
    failure: null,
    cameIn: {},
    theirRefund: {},
    completion: {},
    failedAtMs: null,
    toReport: null,
    ...more,
  } as unknown as Transfer;
}

export const seen = (...words: readonly BridgeStatus[]) => words.reduce(foldStatus, NOTHING_SEEN);
