import { CARELESS, type Journal, type PersonsOrder, type StartedByDriver } from '../driver/driver.js';
import { units, type Book, type Entry } from './book.js';
import type { WireEntry } from '../world/service-port.js';
import type { Violation } from './violation.js';

/** How a flow ended, from the last event of its run. */
export interface Ended {
  readonly flowId: string;
  readonly atMs: number;
  readonly state: string;
  readonly reason: string | null;
}

export interface SafetyFacts {
  readonly book: Book;
  readonly journal: Journal;
  readonly wire: readonly WireEntry[];
  readonly ended: readonly Ended[];
}

const keyOf = ({ operation, reference }: { readonly operation: string; readonly reference: string }) =>
  `${operation} ${reference}`;

/**
 * What must hold at every moment: nothing is executed twice, nothing is settled and refunded, nothing is falsely
 * failed.
 */
export function safetyViolations(facts: SafetyFacts): readonly Violation[] {
  return [...executedOnce(facts), ...refundedOnce(facts), ...neverFalselyFailed(facts)];
}

/** I1: at most one execution for each operation and reference; each `send-again` that a careless person ordered allows one more. */
function executedOnce({ book, journal }: SafetyFacts): readonly Violation[] {
  const counts = new Map<string, number>();
  for (const execution of book.executions()) counts.set(keyOf(execution), (counts.get(keyOf(execution)) ?? 0) + 1);
  return [...counts].flatMap(([what, times]) => {
    const [, reference = ''] = what.split(' ');
    const allowed = 1 + ordersFor(journal, reference, 'send-again');
    if (times <= allowed) return [];
    return [
      violation('I1', `${what} was executed more often than ordered`, `at most ${allowed}`, `${times} executions`),
    ];
  });
}

/**
 * What a careless person is to blame for: an honest one ordered only what the service's books showed, so the product has
 * to be right about the rest. A flow has one operation that can be sent again at a time; its refund's reference is the
 * flow's own with a suffix.
 */
function ordersFor(journal: Journal, reference: string, action: string): number {
  const base = baseOf(reference);
  const isTheirs = (order: PersonsOrder) => order.note === CARELESS && order.flowId.endsWith(`/${base}`);
  return journal.orders.filter((order) => isTheirs(order) && order.action === action).length;
}

/** I4: what was settled is not refunded by us; we refund once, and never more than was paid in. */
function refundedOnce({ book, journal }: SafetyFacts): readonly Violation[] {
  const found: Violation[] = [];
  const entries = book.entries();
  for (const flow of journal.flows) {
    const ours = entries.filter(
      ({ kind, reference }) => kind === 'crypto-send' && reference === `${flow.reference}.refund`,
    );
    if (ours.length === 0) continue;
    const all = entries.filter(({ reference }) => reference === flow.reference);
    // Crypto that we send lets the service return the fiat: only what it returned before is a second refund.
    const sentAt = entries.findIndex((entry) => entry === ours[0]);
    const theirs = entries.filter(({ kind, reference }, at) => reference === flow.reference && at < sentAt && (kind === 'refund' || kind === 'release')); // prettier-ignore
    const settled = all.filter(({ kind }) => kind === 'settlement');
    const byPerson =
      ordersFor(journal, flow.reference, 'refund-now') + ordersFor(journal, flow.reference, 'send-again');
    if (settled.length > 0 && byPerson === 0) {
      found.push(
        violation('I4', `${flow.flowId} is settled and refunded`, 'one of both', 'a settlement and our refund'),
      );
    }
    if (theirs.length > 0 && byPerson === 0) {
      found.push(violation('I4', `${flow.flowId} is refunded twice`, 'one refund', 'the service’s and ours'));
    }
    const back = cryptoOut(ours);
    const paid = cryptoOut(all.filter(({ kind }) => kind === 'crypto-payment'));
    // After a FAILED without its stage it is unknown whether anything came in: whoever orders a refund then is to blame.
    const isBlind = paid === 0n && ordersFor(journal, flow.reference, 'refund-now') > 0;
    if (!isBlind && back > paid * BigInt(1 + ordersFor(journal, flow.reference, 'send-again'))) {
      found.push(violation('I4', `${flow.flowId}: more was refunded than was paid in`, String(paid), String(back)));
    }
  }
  return found;
}

/** I8: never failed, expired or cancelled while the service's entry is pending, settled, or owes a customer money. */
function neverFalselyFailed({ book, journal, wire, ended }: SafetyFacts): readonly Violation[] {
  return ended.flatMap(({ flowId, atMs, state, reason }) => {
    const flow = journal.flows.find((one) => one.flowId === flowId);
    if (flow === undefined || !['failed', 'expired', 'cancelled'].includes(state)) return [];
    if (isPaidUnseen(flow, atMs, wire)) return [];
    const paymentState = book.paymentStateOf(flow);
    if (!['pending', 'settled', 'owed'].includes(paymentState) || isExcused(flow, state, reason, journal)) return [];
    const word = book.wordOf(flow) ?? 'nothing';
    return [
      violation(
        'I8',
        `${flowId} is ${state} (${reason ?? ''})`,
        'no open or settled entry',
        `${word}: ${paymentState}`,
      ),
    ];
  });
}

/** A flow that ends as not paid has asked the service not long before; an unavailable store may delay the end itself. */
const LOOKED_UP_MS = 15 * 60_000;
/** The service shows the same of an invoice that is not paid and of one whose payment is in progress. */
const SHOWN_UNPAID = /"status":"(PENDING|INITIATED)"/;

/**
 * A customer pays an invoice on its page, which no event reports: its flow cannot know what the service does not show.
 * It has to have asked, and the last answer of the service must have been that of an unpaid invoice.
 */
function isPaidUnseen({ paidOnPageAtMs, reference }: StartedByDriver, endedAtMs: number, wire: SafetyFacts['wire']) {
  if (paidOnPageAtMs === undefined) return false;
  if (paidOnPageAtMs > endedAtMs) return true;
  const last = wire.findLast(
    ({ operation, atMs, answer }) =>
      operation === 'getInvoicePayment' && atMs <= endedAtMs && answer.includes(`"${reference}"`),
  );
  return last !== undefined && endedAtMs - last.atMs < LOOKED_UP_MS && SHOWN_UNPAID.test(last.answer);
}

function isExcused(flow: StartedByDriver, state: string, reason: string | null, journal: Journal): boolean {
  // A careless person has decided it, with a note.
  const isCareless = journal.orders.some(({ flowId, note }) => flowId === flow.flowId && note === CARELESS);
  if (reason === 'closed_by_person' && isCareless) return true;
  // Its claim is void by that word: after a reset the flow goes by it as well, and may end for another reason.
  if (ordersFor(journal, flow.reference, 'close-not-executed') > 0) return true;
  // Nothing moves in a flow that only watches.
  return flow.money === null && state === 'cancelled';
}

function cryptoOut(entries: readonly Entry[]): bigint {
  return entries
    .flatMap(({ postings }) => postings)
    .filter(({ account }) => account === 'crypto-out')
    .reduce((sum, { amount }) => sum + units(amount), 0n);
}

const baseOf = (reference: string): string => reference.replace(/\.refund$/, '');

export function violation(invariant: string, what: string, expected: string, found: string): Violation {
  return { invariant, what, expected, found };
}
