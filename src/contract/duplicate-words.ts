/**
 * How a service may say that it knows a reference already: the interface shows no error body at all. Deliberately
 * broad: a word too many costs a status lookup, and at worst a person's decision; a missing word calls an executed
 * payment failed, if something on the way has repeated the POST.
 *
 * Compared without case, with `camelCase`, `snake_case` and punctuation read as word boundaries, each from the
 * beginning of a word ("duplicate" is in "duplicated").
 */
export const DUPLICATE_WORDS: readonly string[] = [
  'duplicate',
  'duplication',
  'dup key',
  'dup entry',
  'already exist',
  'already been',
  'already used',
  'already in use',
  'already taken',
  'already processed',
  'already processing',
  'already in progress',
  'already submitted',
  'already received',
  'already recorded',
  'already registered',
  'already created',
  'already initiated',
  'already sent',
  'already paid',
  'already pending',
  'already completed',
  'already known',
  'exists already',
  'been used',
  'been taken',
  'been processed',
  'been submitted',
  'must be unique',
  'should be unique',
  'must have unique',
  'not unique',
  'non unique',
  'unique constraint',
  'unique violation',
  'is unique',
];

/** What a service may call the existing record: together with one of these, each of `DUPLICATE_STATES` is enough. */
export const DUPLICATE_SUBJECTS: readonly string[] = [
  'reference',
  'transaction',
  'payment',
  'deposit',
  'withdrawal',
  'invoice',
  'order',
  'request',
];

/** What a service may say that the record is doing: of a POST that has just come, only an earlier one can be there. */
export const DUPLICATE_STATES: readonly string[] = [
  'already',
  'exists',
  'in progress',
  'being processed',
  'is processing',
  'is pending',
  'been paid',
  'been initiated',
  'been made',
  'been created',
  'been completed',
];

/** Words for the reference itself: a refusal that contains one of them is about the reference. */
const REFERENCE_WORDS: readonly string[] = ['reference', 'referenceid', 'idempotency', 'external id'];

/** What a refusal says about the request's reference, judged by these words. */
export type SaysOfReference = 'duplicate' | 'about-it' | 'nothing';

/** @param more further words for "duplicate" (`DUPLICATE_WORDS`), as in the table above */
export function saysOfReference(texts: readonly string[], more: readonly string[] = []): SaysOfReference {
  const said = texts.map(inWords);
  const has = (text: string, words: readonly string[]) => words.some((word) => text.includes(inWords(word).trimEnd()));
  const isDuplicate = (text: string) =>
    has(text, DUPLICATE_WORDS) || has(text, more) || (has(text, DUPLICATE_STATES) && has(text, DUPLICATE_SUBJECTS));
  if (said.some(isDuplicate)) return 'duplicate';
  return said.some((text) => has(text, REFERENCE_WORDS)) ? 'about-it' : 'nothing';
}

/** "providerReferenceId_must-be Unique!" → " provider reference id must be unique ". */
function inWords(text: string): string {
  const words = text
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .match(/[\p{L}\p{N}]+/gu);
  return ` ${(words ?? []).join(' ')} `;
}
