/** What the service's status words mean to a flow. Imports nothing, so that workflows may import its values. */

/**
 * `pending`: not final, and so is every word that is not listed: it is kept and shown. `failed` means that nothing was
 * paid out and nothing is kept; where a failure is followed by a refund, that is `refund-pending`.
 */
export const MEANINGS = ['pending', 'succeeded', 'failed', 'refund-pending', 'refunded', 'refund-failed'] as const;
export type Meaning = (typeof MEANINGS)[number];

export type Words = Readonly<Record<string, Meaning>>;

/** Deposits, withdrawals, crypto sends and invoice payments. REVERSED may follow a success: the money came back. */
export const PAYMENT_WORDS: Words = {
  INITIATED: 'pending',
  PENDING: 'pending',
  IN_PROGRESS: 'pending',
  PROCESSING: 'pending',
  RETRY: 'pending',
  DUPLICATE: 'pending',
  REQUIRE_REVIEW: 'pending',
  ERROR_OCCURRED: 'pending',
  CRYPTO_PENDING: 'pending',
  SUCCESSFUL: 'succeeded',
  SUCCESS: 'succeeded',
  COMPLETED: 'succeeded',
  PAID: 'succeeded',
  FAILED: 'failed',
  CANCELLED: 'failed',
  EXPIRED: 'failed',
  DECLINED: 'failed',
  PERMANENTLY_FAILED: 'failed',
  REVERSED: 'refunded',
};

/** What a customer pays: `payment.confirmed` says its word by its name. */
export const CHECKOUT_WORDS: Words = { ...PAYMENT_WORDS, CONFIRMED: 'succeeded' };

/** Decisions on a KYC record, as `kycWord` reads them. */
export const KYC_WORDS: Words = { APPROVED: 'succeeded', REJECTED: 'failed' };

/** FAILED is not the end of an offramp: an automatic refund follows. */
export const OFFRAMP_WORDS: Words = {
  PENDING: 'pending',
  CRYPTO_RECEIVED: 'pending',
  PROCESSING: 'pending',
  SUCCESS: 'succeeded',
  SUCCESSFUL: 'succeeded',
  COMPLETED: 'succeeded',
  FAILED: 'refund-pending',
  REFUND_PENDING: 'refund-pending',
  REFUNDED: 'refunded',
  REFUND_FAILED: 'refund-failed',
};

export function meaningOf(words: Words, word: string | null): Meaning {
  return (word === null ? undefined : words[word.toUpperCase()]) ?? 'pending';
}

/** Meanings that end a flow. */
export function isFinal(meaning: Meaning): boolean {
  return meaning === 'succeeded' || meaning === 'failed' || meaning === 'refunded' || meaning === 'refund-failed';
}
