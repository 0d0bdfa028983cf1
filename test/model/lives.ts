import { DEPOSIT } from './bridge.js';
import type { FlowKind } from '../../src/protocol/vocabulary.js';
import type { Plan } from '../../workflows/engine/plan.js';

/** What the service does with a payment once it has it, in its own words. */
export interface Life {
  readonly begins: string;
  readonly success: string;
  readonly failure: string;
  /** From each word to the next ones. `calm`: if nothing goes wrong; `can`: without anything going wrong. */
  readonly becomes: Readonly<Record<string, readonly (readonly [as: 'calm' | 'can' | 'fault', word: string])[]>>;
  /** Words that only events use, by the word of the record. */
  readonly besides?: Readonly<Record<string, string>>;
}

const PAYMENT: Life = {
  begins: 'PENDING',
  success: 'SUCCESSFUL',
  failure: 'FAILED',
  becomes: {
    // Of one POST DECLINED is a failure; of two it may be about the second copy, while the first one goes on.
    PENDING: [
      ['calm', 'SUCCESSFUL'],
      ['can', 'FAILED'],
      ['fault', 'DECLINED'],
    ],
    SUCCESSFUL: [['can', 'REVERSED']],
    FAILED: [['fault', 'SUCCESSFUL']],
  },
};

const ONRAMP: Life = {
  begins: 'FIAT_PENDING',
  success: 'CRYPTO_SUCCESSFUL',
  failure: 'FIAT_FAILED',
  becomes: {
    FIAT_PENDING: [
      ['calm', 'FIAT_SUCCESSFUL'],
      ['can', 'FIAT_FAILED'],
      ['fault', 'FIAT_DECLINED'],
    ],
    FIAT_SUCCESSFUL: [
      ['calm', 'CRYPTO_SUCCESSFUL'],
      ['can', 'CRYPTO_FAILED'],
    ],
    CRYPTO_FAILED: [
      ['can', 'REFUNDED'],
      ['fault', 'CRYPTO_SUCCESSFUL'],
    ],
    FIAT_FAILED: [['fault', 'FIAT_SUCCESSFUL']],
  },
};

const OFFRAMP: Life = {
  begins: 'PENDING',
  success: 'SUCCESSFUL',
  failure: 'CRYPTO_NOT_RECEIVED',
  becomes: {
    PENDING: [
      ['calm', 'SUCCESSFUL'],
      ['can', 'CRYPTO_RECEIVED'],
      ['can', 'FAILED'],
      ['can', 'CRYPTO_NOT_RECEIVED'],
    ],
    CRYPTO_RECEIVED: [
      ['calm', 'SUCCESSFUL'],
      ['can', 'FAILED'],
    ],
    FAILED: [
      ['calm', 'REFUNDED'],
      ['can', 'REFUND_FAILED'],
      ['fault', 'SUCCESSFUL'],
    ],
    REFUND_FAILED: [['can', 'REFUNDED']],
  },
  besides: { FAILED: 'REFUND_INVOICE_NEEDED', CRYPTO_NOT_RECEIVED: 'REFUND_INVOICE_NEEDED' },
};

const KYC: Life = {
  begins: 'PENDING',
  success: 'APPROVED',
  failure: 'REJECTED',
  becomes: {
    PENDING: [
      ['calm', 'APPROVED'],
      ['can', 'REJECTED'],
    ],
    REJECTED: [['can', 'APPROVED']],
  },
};

const LIVES: Readonly<Partial<Record<FlowKind, Life>>> = {
  onramp: ONRAMP,
  'on-chain-watch': ONRAMP,
  offramp: OFFRAMP,
  'kyc-check': KYC,
};

/** An invoice is there, and has no status of its own. */
const INVOICE: Life = { begins: 'PENDING', success: 'SUCCESSFUL', failure: 'FAILED', becomes: {} };

/** The words of an invoice's payment: PENDING is shown before one, too. */
const INVOICE_PAYMENT: Life = {
  ...PAYMENT,
  becomes: {
    ...PAYMENT.becomes,
    PROCESSING: [
      ['calm', 'SUCCESSFUL'],
      ['can', 'FAILED'],
    ],
  },
};

export function lifeOf({ kind }: Pick<Plan, 'kind'>, request: string): Life {
  if (kind === 'bridge-transfer' && request === 'deposit') return DEPOSIT;
  if (kind === 'invoice-payment') return request === 'generate' ? INVOICE : INVOICE_PAYMENT;
  return LIVES[kind] ?? PAYMENT;
}
