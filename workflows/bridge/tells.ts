import type { Input, Known } from '../engine/known.js';
import type { Note, View } from '../engine/plan.js';
import { requestOf } from '../engine/view.js';
import { quoteInWords, whyNoQuote } from './quotes.js';
import { isOwed, transferIn } from './refund.js';
import { inputOf } from './transfer.js';

/** What the timeline of a transfer says besides. */
export function tells(before: View, input: Input, after: View): readonly Note[] {
  return [
    ...ofQuote(before.known, after),
    ...ofOrder(before.known, after.known),
    ...ofReport(input),
    ...ofRefund(before, input, after),
  ];
}

function ofQuote(before: Known, after: View): readonly Note[] {
  const { known } = after;
  const [was, is] = [before.transfer?.quote ?? null, known.transfer?.quote ?? null];
  const notes: Note[] = [];
  // One that is too bad is none.
  if (is !== null && is !== was && whyNoQuote(after) === null)
    notes.push({ code: 'quoted', detail: (was === null ? '' : 'quoted again, ') + quoteInWords(is) });
  if (was === null && is !== null && inputOf(known).approval !== 'none')
    notes.push({
      stage: 'awaiting-approval',
      code: 'awaiting-approval',
      detail: 'waiting for the approval of the quote (approve-quote)',
    });
  if ((known.transfer?.untaken?.times ?? 0) === 1 && before.transfer?.untaken == null) notes.push(UNTAKEN);
  return notes;
}

const UNTAKEN: Note = {
  code: 'not-sent',
  detail: 'no worker took the deposit while its quote was young: money is stopped, or is behind',
};

function ofOrder(before: Known, { transfer }: Known): readonly Note[] {
  const by = transfer?.approvedBy ?? null;
  return by !== null && before.transfer?.approvedBy == null
    ? [{ code: 'quote-approved', detail: 'quote approved', by }]
    : [];
}

function ofReport(input: Input): readonly Note[] {
  if (input.is !== 'result' || input.result.of !== 'report') return [];
  const { status, outcome } = input.result;
  if (outcome.kind === 'reported')
    return [{ code: 'settlement-reported', detail: `${status} reported to the service` }];
  if (outcome.kind === 'not-taken')
    return [
      { code: 'report-not-taken', detail: `${status} could not be reported to the service so far: ${outcome.message}` },
    ];
  const isByUs = outcome.httpStatus === null;
  const by = isByUs ? 'no report could be made' : `the service refused the report (${outcome.httpStatus})`;
  return [{ code: 'report-refused', detail: `${status}: ${by}: ${outcome.message}`, by: isByUs ? 'flow' : 'service' }];
}

function ofRefund({ known: before, ...then }: View, input: Input, after: View): readonly Note[] {
  const { known } = after;
  const notes: Note[] = [];
  if (isOwed(after) && !isOwed({ known: before, ...then })) {
    const stage = transferIn(after).failure?.facts['failureStage'] ?? 'not said';
    const detail = `failed (stage: ${stage}); waiting for its refund`;
    notes.push({ stage: 'refunding', code: 'refund-awaited', detail, by: 'service' });
  }
  const [was, is] = [requestOf(before, 'refund'), requestOf(known, 'refund')];
  const isTold = is.claim === 'rejected' || is.claim === 'void';
  if (input.is === 'result' && was.claim !== is.claim && isTold && is.answer !== null && known.stop?.for !== 'refunded')
    notes.push({ code: 'refund-failed', detail: `the refund failed: its claim is ${is.claim}`, by: 'service' });
  const failed = is.words.find((word) => !was.words.includes(word) && FAILED.includes(word));
  if (failed !== undefined)
    notes.push({ code: 'refund-failed', detail: `the refund failed: the send ended as ${failed}`, by: 'service' });
  return notes;
}

const FAILED: readonly string[] = [
  'FAILED',
  'CANCELLED',
  'EXPIRED',
  'DECLINED',
  'PERMANENTLY_FAILED',
  'REVERSED',
  'REFUNDED',
];
