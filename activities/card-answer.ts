import { RejectedError } from '../src/client/index.js';
import type { Card, CardDeposit } from '../src/contract/deposit.js';

/** What the contract shows of the answer, and nothing that the service may add: it could be the card. */
const MEMBERS = ['id', 'message', 'reference_id', 'reference_number', 'customer_key', 'redirect_url'] as const;

const MARK = '[redacted]';

/** Of what the service sends back, these are sentences; every other member is kept whole or not at all. */
const SENTENCES: readonly string[] = ['message'];

/**
 * The service likes to repeat what it was sent, and its answer goes into the claim and the history. This lets through
 * what the contract shows, without the card in it.
 */
export function answerWithoutCard(answer: CardDeposit, card: Card): Partial<CardDeposit> {
  return Object.fromEntries(
    MEMBERS.flatMap((name) => {
      const value = answer[name];
      if (typeof value !== 'string') return [];
      if (SENTENCES.includes(name)) return [[name, sentenceWithoutCard(value, card)]];
      return holdsNumber(value, card) ? [] : [[name, value]];
    }),
  );
}

/** A refusal as it came, its text without the card. The client has cut out most of it; short members are left. */
export function refusalWithoutCard(error: unknown, card: Card): unknown {
  if (!(error instanceof RejectedError)) return error;
  const { operation, httpStatus, code, fields, hasReason, isRateExpired, isAboutReference } = error;
  return new RejectedError(operation, {
    httpStatus,
    fields,
    isRateExpired,
    isAboutReference,
    ...(hasReason ? { message: sentenceWithoutCard(error.message, card) } : {}),
    ...(code === undefined || cardTexts(card).includes(code) ? {} : { code }),
  });
}

/** Without long runs of digits, every spelling of the card's short members, and the words of the holder's name. */
function sentenceWithoutCard(text: string, card: Card): string {
  const secrets = cardTexts(card);
  const holder = (card.holder ?? '').split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '');
  return holder
    .reduce((rest, word) => rest.replaceAll(new RegExp(`(?<!\\p{L})${word}(?!\\p{L})`, 'giu'), MARK), text)
    .replaceAll(/\d(?:[ -]?\d){5,}/g, MARK)
    .replaceAll(/\d+/g, (digits) => (secrets.includes(digits) ? MARK : digits));
}

function holdsNumber(text: string, card: Card): boolean {
  return digitsOf(text).includes(digitsOf(card.number));
}

/** As a service may write them: "3/2027", "03/27" and "0327" are one date. */
function cardTexts({ number, cvv, expiryMonth, expiryYear }: Card): readonly string[] {
  const months = [expiryMonth, expiryMonth.padStart(2, '0'), String(Number(expiryMonth))];
  const years = [expiryYear, expiryYear.slice(-2), `20${expiryYear.slice(-2)}`];
  const dates = months.flatMap((month) => years.flatMap((year) => [month + year, year + month]));
  return [digitsOf(number), cvv, ...months, ...years, ...dates];
}

const digitsOf = (text: string) => text.replaceAll(/\D/g, '');
