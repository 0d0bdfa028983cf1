/**
 * What the service's status words mean to a flow, in the spelling in which `readCode` reads them. Imports nothing, so that
 * workflows may import its values.
 */

/**
 * `pending`: not final. Every word that is not listed counts as pending; it is kept and shown. `failed` means that
 * nothing was paid out and nothing is kept; if a refund follows a failure, the meaning is `refund-pending`.
 * `collected`: not final, and money was collected, so that a failure would contradict it. `funds-held`: money was
 * collected, its purpose failed, and no refund is announced: never a failure, a person decides.
 */
export const MEANINGS = [
  'pending',
  'collected',
  'succeeded',
  'failed',
  'funds-held',
  'refund-pending',
  'refunded',
  'refund-failed',
] as const;
export type Meaning = (typeof MEANINGS)[number];

export type StatusMap = Readonly<Record<string, Meaning>>;

/**
 * Deposits, withdrawals, crypto sends and invoice payments. REVERSED or REFUNDED may follow a success: the money came
 * back.
 */
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
  REFUNDED: 'refunded',
};

/** A customer's payment: the event name `payment.confirmed` is its word. */
export const CHECKOUT_WORDS: StatusMap = { ...PAYMENT_WORDS, CONFIRMED: 'succeeded' };

/** For an invoice that another party pays: a failed attempt ends nothing, since the invoice can be paid again. */
export const ATTEMPT_WORDS: StatusMap = Object.fromEntries(
  Object.entries(CHECKOUT_WORDS).map(([word, meaning]) => [word, meaning === 'failed' ? 'pending' : meaning]),
);

/** Decisions on a KYC record, as `kycWord` reads them. */
export const KYC_WORDS: StatusMap = { APPROVED: 'succeeded', REJECTED: 'failed' };

/** Our own word, for an offramp whose FAILED comes without any sign of the crypto: there is nothing to refund. */
export const CRYPTO_NOT_RECEIVED = 'CRYPTO_NOT_RECEIVED';
/** Our own word, for the event `refund.lightning.invoice_needed`. */
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

const CRYPTO_LEG: Partial<Record<Meaning, Meaning>> = {
  succeeded: 'succeeded',
  failed: 'funds-held',
  refunded: 'funds-held',
};

/**
 * The status of an onramp comes from its two legs (`flows/onramp.ts`): the crypto leg counts only once the fiat is
 * collected, or the crypto delivered. Words without a prefix are for the whole, and only events use them.
 */
export const ONRAMP_WORDS: StatusMap = {
  ...PAYMENT_WORDS,
  ...legWords('FIAT_', (meaning) => (meaning === 'succeeded' ? 'collected' : meaning)),
  ...legWords('CRYPTO_', (meaning) => CRYPTO_LEG[meaning] ?? 'collected'),
};

/**
 * DECLINED may also be the service's word for a duplicate: then what it is about is the second copy of a POST, and says
 * nothing of the first.
 */
export function classifyWithDeclinedOpen(words: StatusMap, word: string | null): Meaning {
  const meaning = classifyStatus(words, word);
  return meaning === 'failed' && word !== null && /(^|_)DECLINED$/.test(word) ? 'pending' : meaning;
}

export function classifyStatus(words: StatusMap, word: string | null): Meaning {
  return (word !== null && Object.hasOwn(words, word) ? words[word] : undefined) ?? 'pending';
}

/** These alone prove no payment; DUPLICATE is about the request and not about the payment. */
const BEFORE_PAYMENT: readonly string[] = ['INITIATED', 'PENDING', 'DUPLICATE'];

/** True for the word that the service shows for an unpaid invoice. INITIATED and DUPLICATE may be about a payment. */
export const saysUnpaid = (word: string | null): boolean => word === 'PENDING';

/** Words which say of an invoice itself that it is there, and not paid. The interface shows no word but PENDING. */
const UNPAID_INVOICE: readonly string[] = ['PENDING', 'OPEN', 'UNPAID', 'NEW', 'CREATED', 'GENERATED', 'ISSUED', 'DUE'];
export const leavesUnpaid = (word: string): boolean => UNPAID_INVOICE.includes(word);

/** True for a word of an attempt to pay that failed. */
export const failsCheckout = (word: string | null): boolean => classifyStatus(CHECKOUT_WORDS, word) === 'failed';

/** True for a word that is only used for a payment that has begun. */
export function provesPayment(word: string | null): boolean {
  return word !== null && Object.hasOwn(CHECKOUT_WORDS, word) && !BEFORE_PAYMENT.includes(word);
}

/** Meanings that end a flow. */
export function isFinal(meaning: Meaning): boolean {
  return meaning !== 'pending' && meaning !== 'collected' && meaning !== 'refund-pending';
}

/** Of a bridge transfer: the crypto was paid, so that a failure owes a refund. */
export const CRYPTO_PAID: StatusMap = {
  PAYMENT_SENT: 'collected',
  PAYMENT_CONFIRMED: 'collected',
  SETTLING: 'collected',
};

/** Valid for every kind: no word means success to one kind and failure to another. */
const OF_ANY_KIND = {
  ...OFFRAMP_WORDS,
  ...CHECKOUT_WORDS,
  // After the words of a payment, of which its CRYPTO_PENDING says more: the fiat was collected.
  ...ONRAMP_WORDS,
  ...KYC_WORDS,
  ...CRYPTO_PAID,
};

/** The words of all kinds that have such a meaning. */
export function wordsThat(fits: (meaning: Meaning) => boolean): readonly string[] {
  return Object.entries(OF_ANY_KIND).flatMap(([word, meaning]) => (fits(meaning) ? [word] : []));
}

/** Words of the same ending, or of its refund; none for a word that is neither. */
export function wordsOfSameEnding(status: string | null): readonly string[] {
  const meaning = classifyOfAnyKind(status);
  if (meaning === 'pending' || meaning === 'collected') return [];
  return wordsThat((meant) => meant === meaning);
}

/** What a status means for a flow of any kind. */
export const classifyOfAnyKind = (status: string | null): Meaning => classifyStatus(OF_ANY_KIND, status);

/** More than any service uses for one payment. */
const MOST_WORDS = 20;
/** After so many only a word that ends something is news: a status that is another one at each lookup is none for ever. */
export const isOneWordTooMany = (known: readonly string[], status: string): boolean =>
  known.length >= MOST_WORDS && classifyOfAnyKind(status) === 'pending';
