import {
  CHECKOUT_WORDS,
  KYC_WORDS,
  meaningOf,
  OFFRAMP_WORDS,
  ONRAMP_WORDS,
  PAYMENT_WORDS,
  type Meaning,
  type Words,
} from '../../flows/meanings.js';
import type { FlowState } from '../../flows/vocabulary.js';

/** What a late event says about the ending of its flow. */
export interface LateVerdict {
  readonly contradicts: boolean;
  /** For a person who looks at the event. */
  readonly detail: string;
}

/** Endings of a flow that a word of this meaning can stand next to. A word that is not final says nothing of them. */
const AGREES_WITH: Readonly<Record<Meaning, readonly FlowState[] | undefined>> = {
  pending: undefined,
  // A failure says that nothing was taken.
  collected: ['completed', 'refunded'],
  owed: ['refunded'],
  succeeded: ['completed'],
  // A failure comes before its refund.
  failed: ['failed', 'refunded', 'expired', 'cancelled'],
  'refund-pending': ['failed', 'refunded', 'expired', 'cancelled'],
  'refund-failed': ['failed'],
  // What came back had been taken.
  refunded: ['refunded'],
};

/** Of a bridge transfer: the crypto was paid, so that a failure owes a refund. */
const CRYPTO_PAID: Words = { PAYMENT_SENT: 'collected', PAYMENT_CONFIRMED: 'collected', SETTLING: 'collected' };

/** Of every kind: no word means success to one kind and failure to another. */
const WORDS = { ...PAYMENT_WORDS, ...ONRAMP_WORDS, ...OFFRAMP_WORDS, ...CHECKOUT_WORDS, ...KYC_WORDS, ...CRYPTO_PAID };

export function lateVerdict(status: string | null, ended: FlowState, trusted: boolean): LateVerdict {
  const meaning = meaningOf(WORDS, status);
  const agreeing = AGREES_WITH[meaning];
  const said = status ?? 'no status';
  const proof = trusted ? '' : ' Nobody has proven where it comes from.';
  // A flow that was terminated did not end by itself, and whoever did that may not know that money moved.
  if (ended === 'parked') {
    const moved = meaning === 'succeeded' || meaning === 'refunded';
    return { contradicts: moved, detail: `The flow had been terminated; this says ${said}.${proof}` };
  }
  if (agreeing === undefined)
    return { contradicts: false, detail: `Came after the flow had ended as ${ended}: ${said}.` };
  if (agreeing.includes(ended))
    return { contradicts: false, detail: `Agrees: the flow had ended as ${ended}, this says ${said}.` };
  return { contradicts: true, detail: `CONTRADICTS: the flow had ended as ${ended}, this says ${said}.${proof}` };
}
