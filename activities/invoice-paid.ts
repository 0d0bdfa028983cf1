import { paidElsewhere } from '../src/protocol/decisions.js';
import { MISSES } from '../src/protocol/attempt.js';
import { flowOf } from '../src/flows/index.js';
import { wordBeside } from '../src/flows/invoice-payment.js';
import { UNREADABLE } from '../src/protocol/messages.js';
import { failsCheckout, saysUnpaid, provesPayment } from '../src/protocol/statuses.js';
import { asking, whyIncomparable } from './status-lookups.js';
import type { ActivityDeps } from './deps.js';
import { notYet } from './failures.js';
import type { PaidReading, Facts } from './types.js';
import { elapsedMs, missingForMs, nextTurnMs, untilNextMiss } from './timing.js';

export interface PaidQuestion {
  readonly reference: string;
  /** Amount and currency of a payment of this invoice. */
  readonly expect: Facts;
  /** A trusted event says that it was paid. */
  readonly paidByEvent: boolean;
  /** How long to ask until it is known; 0 asks once. Already scaled, ms. */
  readonly patienceMs: number;
  /** The same while the answer is "not found". Already scaled, ms. @default as long as for every other answer */
  readonly missingPatienceMs?: number;
  /** How long the answer must be "not found" until it counts as "not paid". Already scaled, ms. */
  readonly windowMs: number;
  readonly timeScale: number;
  /**
   * Before a payment of ours: otherwise the record of an earlier failed attempt could be taken for our payment.
   * @default false
   */
  readonly beforeOurs?: boolean;
  /** A person has been asked (the flow is parked). */
  readonly isParked: boolean;
}

export function createInvoicePaidActivities(deps: ActivityDeps) {
  return {
    /** Whether the invoice was paid in another way. The server retries this until it is known. */
    async whetherPaid(question: PaidQuestion): Promise<PaidReading> {
      const { paidByEvent, windowMs, timeScale, isParked } = question;
      const found = await paidOrMissing(deps, question, (isMissing) => missingForMs(isMissing) >= windowMs);
      const says = paidElsewhere({ lookup: found.says, paidByEvent });
      if (says !== 'cannot-tell') return found;
      const why = found.why ?? 'a trusted event says that it was paid, and the lookup does not';
      const patienceMs = found === MISSING ? (question.missingPatienceMs ?? 0) : 0;
      if (elapsedMs() < Math.max(patienceMs, question.patienceMs)) throw notYet(why, nextTurnMs(timeScale, isParked));
      return { ...found, says, why };
    },
  };
}

/**
 * Right before a payment of ours: its flow made a lookup before, and an attempt may come long after that. The flow has
 * asked for the whole window already, so if the service shows nothing, only the misses at its end are repeated.
 */
export const paidBeforeOurs = (
  deps: ActivityDeps,
  question: Pick<PaidQuestion, 'reference' | 'expect' | 'timeScale'>,
  beforeEachLookup?: () => void,
): Promise<PaidReading> => paidOrMissing(deps, { ...question, beforeOurs: true, beforeEachLookup }, () => true);

type LookupQuestion = Pick<PaidQuestion, 'reference' | 'expect' | 'timeScale' | 'beforeOurs'> & {
  readonly beforeEachLookup?: (() => void) | undefined;
};

/** No lookup says "not paid" against a trusted event of a payment for which no flow was found: it may be of this one. */
async function paidOrMissing(
  deps: ActivityDeps,
  question: LookupQuestion,
  isWindowOver: (isMissing: boolean) => boolean,
): Promise<PaidReading> {
  const found = await lookedUp(deps, question, isWindowOver);
  if (found.says !== 'not-paid') return found;
  const words = await deps.store.inbox.wordsOfNoFlow(question.reference);
  return words.some((word) => word === UNREADABLE || isUnderWay(word)) ? UNMATCHED : found;
}

const UNMATCHED: PaidReading = {
  says: 'cannot-tell',
  why: 'a trusted event of no known flow says that it was paid, or cannot be read',
};

/** "Not found" means "not paid" only if the answer stays the same for the whole window and several times at its end. */
async function lookedUp(
  deps: ActivityDeps,
  question: LookupQuestion,
  isWindowOver: (isMissing: boolean) => boolean,
): Promise<PaidReading> {
  for (let miss = 1; ; miss += 1) {
    question.beforeEachLookup?.();
    const found = await readPaid(deps, question);
    const isOver = isWindowOver(found === MISSING);
    if (found !== MISSING || !isOver) return found;
    if (miss === MISSES) return { says: 'not-paid' };
    await untilNextMiss(deps, question.timeScale);
  }
}

const MISSING: PaidReading = { says: 'cannot-tell', why: 'the service does not show the invoice so far' };

/**
 * PENDING of the payment counts as "not paid", if the invoice beside it does not say otherwise. The interface says that
 * it is shown right after a payment is requested, and no other word for an invoice that was never paid: services show it
 * for those, too (`docs/assumptions.md`). So does a failed attempt: the invoice can be paid again.
 */
async function readPaid(deps: ActivityDeps, { reference, expect, beforeOurs }: LookupQuestion): Promise<PaidReading> {
  const asked = await asking(() => deps.service.getInvoicePayment(reference));
  if (asked.says === 'absent') return MISSING;
  if (asked.says === 'cannot-tell') return { says: 'cannot-tell', why: asked.why };
  const reading = flowOf('invoice-payment').status?.read(asked.record) ?? { status: null, facts: {} };
  const { status } = reading;
  if (saysUnpaid(status)) {
    const beside = wordBeside(asked.record);
    if (beside === undefined) return { says: 'not-paid', reading };
    return { says: 'cannot-tell', why: `the payment is ${status}, and the invoice ${beside}` };
  }
  // The invoice can be paid again.
  if (failsCheckout(status)) {
    return beforeOurs === true ? { says: 'cannot-tell', why: FAILED_BEFORE } : { says: 'not-paid', reading };
  }
  if (!provesPayment(status)) return { says: 'cannot-tell', why: `it is ${status ?? 'without a status'}` };
  const why = whyIncomparable(reading.facts);
  if (why !== undefined) return { says: 'cannot-tell', why };
  return { says: agrees(expect, reading.facts) ? 'paid' : 'other', reading };
}

/** A word of a payment that has begun, and has not failed. */
const isUnderWay = (word: string | null): boolean => provesPayment(word) && !failsCheckout(word);

const FAILED_BEFORE = 'another attempt to pay it failed, and ours cannot be distinguished from it';

function agrees(expect: Facts, { paidAmount, paidCurrency }: Facts): boolean {
  if (paidCurrency !== undefined && expect['paidCurrency'] !== paidCurrency) return false;
  return paidAmount === undefined || expect['paidAmount'] === paidAmount;
}
