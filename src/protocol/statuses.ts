/** What the service's status words mean to a flow. Imports nothing, so that workflows may import its values. */

/**
 * `pending`: not final, and so is every word that is not listed: it is kept and shown. `failed` means that nothing was
 * paid out and nothing is kept; where a failure is followed by a refund, that is `refund-pending`. `collected`: not
 * final, and money was taken, so that a failure would contradict it. `owed`: money was taken, what it was for failed,
 * and no refund is announced: never a failure, a person decides.
 */
export const MEANINGS = [
  'pending',
  'collected',
  'succeeded',
  'failed',
  'owed',
  'refund-pending',
  'refunded',
  'refund-failed',
] as const;
export type Meaning = (typeof MEANINGS)[number];

export type StatusMap = Readonly<Record<string, Meaning>>;

/** Deposits, withdrawals, crypto sends and invoice payments. REVERSED may follow a success: the money came back. */
export const PAYMENT_WORDS: StatusMap = {
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
export const CHECKOUT_WORDS: StatusMap = { ...PAYMENT_WORDS, CONFIRMED: 'succeeded' };

/** Of an invoice that another party pays: an attempt that failed ends nothing, for it can be paid again. */
export const ATTEMPT_WORDS: StatusMap = Object.fromEntries(
  Object.entries(CHECKOUT_WORDS).map(([word, meaning]) => [word, meaning === 'failed' ? 'pending' : meaning]),
);

/** Decisions on a KYC record, as `kycWord` reads them. */
export const KYC_WORDS: StatusMap = { APPROVED: 'succeeded', REJECTED: 'failed' };

/** Ours, for an offramp whose FAILED comes without a trace of the crypto: there is nothing to refund. */
export const CRYPTO_NOT_RECEIVED = 'CRYPTO_NOT_RECEIVED';
/** Ours, for the event `refund.lightning.invoice_needed`. */
export const REFUND_INVOICE_NEEDED = 'REFUND_INVOICE_NEEDED';

/** FAILED is not the end of an offramp: an automatic refund follows. */
export const OFFRAMP_WORDS: StatusMap = {
  PENDING: 'pending',
  CRYPTO_RECEIVED: 'collected',
  PROCESSING: 'pending',
  SUCCESS: 'succeeded',
  SUCCESSFUL: 'succeeded',
  COMPLETED: 'succeeded',
  FAILED: 'refund-pending',
  [CRYPTO_NOT_RECEIVED]: 'failed',
  REFUND_PENDING: 'refund-pending',
  [REFUND_INVOICE_NEEDED]: 'refund-pending',
  REFUNDED: 'refunded',
  REFUND_FAILED: 'refund-failed',
};

/** Words of one leg of an onramp, distinguished by a prefix: the fiat comes in first, then the crypto goes out. */
const legWords = (prefix: string, meant: (meaning: Meaning) => Meaning): StatusMap =>
  Object.fromEntries(Object.entries(PAYMENT_WORDS).map(([word, meaning]) => [prefix + word, meant(meaning)]));

const CRYPTO_LEG: Partial<Record<Meaning, Meaning>> = { succeeded: 'succeeded', failed: 'owed', refunded: 'owed' };

/**
 * An onramp stands where its two legs stand (`onramp-legs.ts`): the crypto leg is only spoken of once the fiat is
 * collected, or delivered. Without a prefix: words for the whole, which only events say.
 */
export const ONRAMP_WORDS: StatusMap = {
  ...PAYMENT_WORDS,
  ...legWords('FIAT_', (meaning) => (meaning === 'succeeded' ? 'collected' : meaning)),
  ...legWords('CRYPTO_', (meaning) => CRYPTO_LEG[meaning] ?? 'collected'),
};

export function classifyStatus(words: StatusMap, word: string | null): Meaning {
  return (word === null ? undefined : words[word.toUpperCase()]) ?? 'pending';
}

/** An unpaid invoice shows these, too; DUPLICATE is said of the request and not of the payment. */
const BEFORE_PAYMENT: readonly string[] = ['INITIATED', 'PENDING', 'DUPLICATE'];

/** True for a word by which the service says that it is unpaid. */
export function saysUnpaid(word: string | null): boolean {
  return BEFORE_PAYMENT.includes(word?.toUpperCase() ?? '');
}

/** True for a word that can only be said of a payment that was begun. */
export function provesPayment(word: string | null): boolean {
  const upper = word?.toUpperCase() ?? '';
  return upper in CHECKOUT_WORDS && !BEFORE_PAYMENT.includes(upper);
}

/** Meanings that end a flow. */
export function isFinal(meaning: Meaning): boolean {
  return meaning !== 'pending' && meaning !== 'collected' && meaning !== 'refund-pending';
}

/** Of a bridge transfer: the crypto was paid, so that a failure owes a refund. */
const CRYPTO_PAID: StatusMap = { PAYMENT_SENT: 'collected', PAYMENT_CONFIRMED: 'collected', SETTLING: 'collected' };

/** Of every kind: no word means success to one kind and failure to another. */
const OF_ANY_KIND = {
  ...PAYMENT_WORDS,
  ...ONRAMP_WORDS,
  ...OFFRAMP_WORDS,
  ...CHECKOUT_WORDS,
  ...KYC_WORDS,
  ...CRYPTO_PAID,
};

/** Words of the same ending, or of its refund; of a word that is none of either: none. */
export function wordsOfSameEnding(status: string | null): readonly string[] {
  const meaning = classifyOfAnyKind(status);
  if (meaning === 'pending' || meaning === 'collected') return [];
  return Object.entries(OF_ANY_KIND).flatMap(([word, meant]) => (meant === meaning ? [word] : []));
}

/** What a status means whatever the kind of its flow is. */
export const classifyOfAnyKind = (status: string | null): Meaning => classifyStatus(OF_ANY_KIND, status);
