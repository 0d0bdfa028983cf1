import type { Facts, FlowPreparation, Quote } from '../../activities/types.js';
import type { Profile } from '../../src/protocol/live-operations.js';
import type { Life } from './lives.js';

/** The deposit of a bridge transfer: what the service does with it, which only events report. */
export const DEPOSIT: Life = {
  begins: 'DEPOSIT_INITIATED',
  success: 'COMPLETED',
  failure: 'FAILED_EARLY',
  becomes: {
    DEPOSIT_INITIATED: [
      ['calm', 'COMPLETED'],
      ['can', 'FAILED_EARLY'],
      ['can', 'FAILED'],
    ],
    FAILED: [
      ['can', 'REFUNDED'],
      ['fault', 'COMPLETED'],
    ],
  },
};

/** How an event says it. A failure of an early stage owes nothing, and one of the settlement a refund. */
export function eventOf(word: string): { readonly status: string; readonly facts: Facts } {
  if (word === 'FAILED_EARLY') return { status: 'FAILED', facts: { failureStage: 'deposit' } };
  if (word === 'FAILED') return { status: 'FAILED', facts: { failureStage: 'settlement', refundAnnounced: 'true' } };
  return { status: word, facts: {} };
}

export const QUOTE: Quote = { rateId: 'rate', cryptoAmount: '7', cryptoUnit: 'USDC', lifeMs: 60_000 };

/** The service's answer to the deposit, with the terms of a refund. */
export const DEPOSIT_ANSWER = {
  kotani_reference_id: 'theirs',
  status: 'DEPOSIT_INITIATED',
  refund_config: {
    primary_method: 'CRYPTO_ADDRESS',
    fallback_method: 'CRYPTO_ADDRESS',
    fallback_address: '0x2222222222222222222222222222222222222222',
    chain: 'CELO',
    token: 'USDC',
    refund_crypto_amount: '7',
  },
};

/** @param isOrderedLater its quote is to be approved, and a refund is a person's to order */
export function preparedTransfer(isOrderedLater: boolean, live: Profile): FlowPreparation {
  const pin = { store: '', account: '', epoch: 0, ...live };
  const claim = { reference: 'r', flowId: 'bridge-transfer/r', fingerprint: 'ours', pin };
  return {
    pin,
    windows: { settleMs: 90_000 },
    steps: {
      deposit: { claim: { ...claim, operation: 'createBridgeDeposit' }, facts: {}, fixed: {} },
      refund: { claim: { ...claim, operation: 'sendCrypto', reference: 'r.refund' }, facts: {}, fixed: {} },
    },
    input: {
      chain: 'CELO',
      token: 'USDC',
      amount: '1000',
      source_currency: 'KES',
      settlement: { amount: '100', currency: 'ZAR' },
      crypto_payment: { crypto_amount: '7' },
      maxSlippageBps: 100,
      approval: isOrderedLater ? 'required' : 'none',
      refund: { auto: !isOrderedLater },
    },
  } as unknown as FlowPreparation;
}
