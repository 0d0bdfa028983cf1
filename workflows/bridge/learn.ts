import type { Facts, Quote } from '../../activities/types.js';
import type { FlowEvent } from '../../src/protocol/messages.js';
import { liveLookupOf } from '../../src/protocol/live-operations.js';
import { differences } from '../engine/events.js';
import type { Known, Order, Question, Result, Step } from '../engine/known.js';
import { inNewTurn } from '../engine/take-events.js';
import { NEW_TRANSFER, type TransferKnown } from './known.js';
import { asBridgeStatus } from './statuses.js';

/** Adds what a bridge transfer alone learns. It judges nothing, and never throws. */
const withTransfer = (known: Known, change: Partial<TransferKnown>): Known => ({
  ...known,
  transfer: { ...(known.transfer ?? NEW_TRANSFER), ...change },
});

/** The first quote comes with the check of the input. */
export function agreed(known: Known, quote: Quote | undefined, askedAtMs: number): Known {
  if (quote === undefined) return known;
  return withTransfer(known, { agreed: quote, quote: { ...quote, quotedAtMs: askedAtMs } });
}

export function quoted(known: Known, { quote, why }: Extract<Result, { of: 'quote' }>, askedAtMs: number): Known {
  const { quotes = 0 } = known.transfer ?? {};
  if (quote === null) return inNewTurn(withTransfer(known, { whyNone: why ?? 'the service gave no quote' }));
  const now = { quote: { ...quote, quotedAtMs: askedAtMs }, isUsed: false, quotes: quotes + 1 };
  return inNewTurn(withTransfer(known, now));
}

/** A failure that was there before this run may have been shown to a person; what an earlier run looked up is in no inbox. */
export function heardBefore(known: Known, events: readonly FlowEvent[]): Known {
  const { prepared, requests, transfer } = known;
  if (transfer === null) return known;
  const hasFailed = events.some(({ status }) => asBridgeStatus(status) === 'FAILED');
  const isLookedUp = prepared !== null && liveLookupOf(prepared.pin, 'createBridgeDeposit') !== undefined;
  const mayHaveLooked = isLookedUp && requests['deposit']?.sent === 'unknown';
  return hasFailed || mayHaveLooked ? withTransfer(known, { wasAsked: true }) : known;
}

/** What a person is asked. */
export const questioned = (known: Known, { reason }: Pick<Question, 'reason'>): Known =>
  known.transfer !== null && reason === 'refund_needed' ? withTransfer(known, { wasAsked: true }) : known;

/** What a send says of its quote, and of a refund that was ordered. */
export function sentUnder(known: Known, step: Step, result: Extract<Result, { of: 'send' }>, nowMs: number): Known {
  const { request, reviewed = [] } = step;
  const { transfer } = known;
  if (transfer === null) return known;
  if (request !== 'deposit') {
    // Of an earlier POST its amount says what it was.
    const isFirst = known.requests[request]?.maybeTwice !== true;
    if (!LEFT_NOTHING.includes(result.answer) || !isFirst) return known;
    return withTransfer(known, { refund: null, heldBack: result.answer === 'held-back' ? reviewed : null });
  }
  if (result.answer !== 'quote-expired') return known;
  const { times = 0 } = transfer.untaken ?? {};
  const isUntaken = result.isUntaken === true;
  return withTransfer(known, {
    isUsed: true,
    untaken: isUntaken ? { times: times + 1, atMs: nowMs } : null,
    // What no worker took says nothing of the quotes.
    quotes: isUntaken ? 0 : transfer.quotes,
  });
}

/** It is not sent: whoever ordered it decides again. */
const LEFT_NOTHING: readonly string[] = ['held-back', 'unsendable', 'void', 'other-request'];

/** It has a deadline of its own if the flow's is over. */
export function beganDebt(known: Known, { debt }: Step, nowMs: number): Known {
  if (debt === undefined || known.transfer === null) return known;
  const next = withTransfer(known, { refund: { ...debt } });
  return nowMs < known.deadlineAtMs ? next : { ...next, deadlineAtMs: nowMs + known.deadlineMs };
}

/** Another send is ordered: its quote is of that moment. */
export const orderedAgain = (known: Known): Known =>
  known.transfer === null ? known : withTransfer(known, { isUsed: true, quotes: 0, whyNone: null, untaken: null });

export function reported(known: Known, step: Step, { status, outcome }: Extract<Result, { of: 'report' }>): Known {
  const { transfer } = known;
  if (transfer === null) return known;
  if (outcome.kind === 'reported')
    return inNewTurn(withTransfer(known, { report: null, reported: [...transfer.reported, status] }));
  const httpStatus = outcome.kind === 'refused' ? outcome.httpStatus : null;
  const report = { eventId: step.event ?? '', status, kind: outcome.kind, httpStatus, message: outcome.message };
  const isNews = transfer.report?.eventId !== report.eventId || transfer.report.kind !== report.kind;
  const next = withTransfer(known, { report });
  return isNews ? inNewTurn(next) : next;
}

/** No attempt of it has ended: a person is asked, and it is tried on. */
export function notReported(known: Known, step: Step, message: string): Known {
  const status = known.events.find(({ event }) => event.id === step.event)?.event.status ?? '';
  return reported(known, step, { of: 'report', status, outcome: { kind: 'not-taken', message } });
}

/** What an order of a person means for a transfer. */
export function transferOrdered(known: Known, { action, actor, untilMs, parkedSinceMs }: Order, nowMs: number): Known {
  if (known.transfer === null) return known;
  if (action === 'approve-quote') return inNewTurn(withTransfer(known, { approvedBy: actor }));
  if (action === 'report-again') return inNewTurn(withTransfer(known, { report: null }));
  if (action === 'refund-now') return inNewTurn(withTransfer(withAnswerOpen(known), { refund: ORDERED }));
  if (action !== 'keep-waiting') return known;
  const isOfRefund = known.parked?.reason === 'refund_unconfirmed' && known.parked.sinceMs === parkedSinceMs;
  return isOfRefund ? withTransfer(known, { waitsUntilMs: untilMs ?? nowMs, waitsSinceMs: nowMs }) : known;
}

const ORDERED = { by: 'person', cryptoAmount: null, hadTheirsBegun: null } as const;

/** What was held back, or could not be sent, is tried again. */
function withAnswerOpen(known: Known): Known {
  const { refund } = known.requests;
  return refund === undefined
    ? known
    : { ...known, requests: { ...known.requests, refund: { ...refund, answer: null } } };
}

/** More than a service shows of one deposit. */
const MOST_LOOKED = 20;
/** Each lookup may say another time: then it says nothing new. */
const TIMES: readonly string[] = ['cryptoReceivedAt', 'refundStartedAt', 'refundInvoiceExpiresAt'];

/** What the lookup of a deposit shows says as much as a trusted event does: its status, and what it says of a refund. */
export function tookRecord(
  known: Known,
  { turn }: Step,
  { word, facts }: Extract<Result, { of: 'follow' }>,
  atMs: number,
): Known {
  const { transfer } = known;
  if (transfer === null || facts === undefined || word === null) return known;
  const { looked = [] } = transfer;
  const asked = withTransfer(known, { lookedTurn: turn });
  const isKnown = looked.some((one) => one.status === word && isSameBut(TIMES, one.facts, facts));
  if (isKnown) return asked;
  // One that is not kept counts for nothing.
  if (looked.length >= MOST_LOOKED) return known;
  return inNewTurn(withTransfer(asked, { looked: [...looked, { status: word, facts, atMs }] }));
}

function isSameBut(but: readonly string[], ours: Facts, theirs: Facts): boolean {
  const names = new Set([...Object.keys(ours), ...Object.keys(theirs)]);
  const isBeside = Object.keys(ours).length === names.size && Object.keys(theirs).length === names.size;
  return isBeside && differences(ours, theirs).every((name) => but.includes(name));
}
