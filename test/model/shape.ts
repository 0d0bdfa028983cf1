import type { FlowPreparation } from '../../activities/types.js';
import type { FlowEvent } from '../../src/protocol/messages.js';
import { classifyStatus } from '../../src/protocol/statuses.js';
import type { ClaimReading, Known, PaidResult, Result, Step } from '../../workflows/engine/known.js';
import type { Plan } from '../../workflows/engine/plan.js';

/**
 * The shape of a step and its result: two pairs have the same one if no rule can tell them apart by what the result says
 * and by what the flow knew of the claim. Figures, ids, times and texts for persons are left out. What the caller's input
 * asks for is a shape of its own: it does not change with what the store holds.
 */
export function shapesOf(plan: Plan, known: Known, step: Step, result: Result): readonly string[] {
  const shape = `${plan.kind} ${stepIn(known, step)} → ${result.of}${resultIn(plan, known, step, result)}`;
  const input = result.of === 'check' && result.prepared !== null ? inputIn(plan, result.prepared) : null;
  return input === null ? [shape] : [shape, `${plan.kind} check → input${input}`];
}

function stepIn(known: Known, { do: what, request, isParked, looksFirst, awaitsSend, debt, only }: Step): string {
  const how = [
    isParked === true ? ' parked' : '',
    looksFirst === true ? ' looks-first' : '',
    awaitsSend === true ? ' awaits-send' : '',
    only === undefined ? '' : ` only-${only}`,
    debt === undefined ? '' : ` by-${debt.by}`,
  ].join('');
  return request === '' ? `${what}${how}` : `${request} ${what}${how} (${claimIn(known, request)})`;
}

/** A claim that changed behind the flow's back is another matter than one that it knows of. */
function claimIn(known: Known, name: string): string {
  const sends = known.running.some((step) => step.do === 'send' && step.request === name);
  return `${known.requests[name]?.claim ?? 'none'}${sends ? ', sending' : ''}`;
}

function resultIn(plan: Plan, known: Known, step: Step, result: Result): string {
  switch (result.of) {
    case 'check':
      return checkIn(known, result);
    case 'send':
      return [
        ` ${result.answer}`,
        result.repeat === 'unknown' ? '' : ` may-repeat-${result.repeat}`,
        // Of what is unknown it is known by that.
        flag(' repeat', result.isRepeat && result.answer !== 'unknown' && result.answer !== 'duplicate'),
        flag(' unwritten', result.unwritten),
        flag(' other', result.isOther),
        flag(' untaken', result.isUntaken),
        result.sent === null ? '' : ` sent-${result.sent}`,
        result.paid === undefined ? '' : paidIn(plan, step, result.paid),
        termsIn(plan, step, result.shown.answer),
      ].join('');
    case 'ask':
    case 'look':
      return [
        ` claim-${result.claim} lookup-${result.lookup}`,
        flag(' window-over', result.windowOver),
        flag(' other', result.isOther),
        termsIn(plan, step, result.shown.answer),
      ].join('');
    case 'follow':
      return ` ${result.lookup}${wordIn(plan, step, result.word)}`;
    case 'read-inbox':
      return eventsIn(known, result.events);
    case 'void':
      return ` ${result.isDone ? 'done' : 'not-done'}${claimsIn(known, result.claims)}${eventsIn(known, result.events)}`;
    case 'order-send':
      return ` ${result.isTaken ? 'taken' : 'not-taken'}${readingIn(result)}`;
    case 'take-back':
    case 'close':
      return readingIn(result);
    case 'last-word':
      return ` ${result.isClosed ? 'closed' : 'not-closed'}`;
    case 'quote':
      return result.quote === null ? ' none' : ' given';
    case 'report':
      return ` ${result.status} ${result.outcome.kind}`;
    case 'compare':
      return result.other === null ? ' ours' : ' other';
    case 'paid':
      return paidIn(plan, step, result);
    case 'hand-over':
      return ` ${result.says}`;
    case 'check-invoice':
      return result.given === null ? ' refused' : ' given';
    case 'unsendable':
    case 'write-answer':
    case 'cannot-ask':
    case 'no-answer':
      return '';
    default:
      return result satisfies never;
  }
}

function checkIn(known: Known, { prepared, refusal, claims, quote, events }: Extract<Result, { of: 'check' }>): string {
  return [
    flag(' refused', refusal !== null),
    prepared === null ? ' unprepared' : ` for ${Object.keys(prepared.steps).join('+') || 'nothing'}`,
    claimsIn(known, claims),
    flag(' quoted', quote !== undefined),
    eventsIn(known, events),
  ].join('');
}

/** What rules read of the input that the caller gave; null: nothing. */
function inputIn({ kind }: Plan, { input }: FlowPreparation): string | null {
  const { approval, refund, payment, pay } = input as {
    readonly approval?: string;
    readonly refund?: { readonly auto?: boolean };
    readonly payment?: unknown;
    readonly pay?: string;
  };
  if (kind === 'invoice-payment')
    return `${flag(' existing', pay === 'existing')}${flag(' payment', payment !== undefined)}`;
  if (kind !== 'bridge-transfer') return null;
  return `${flag(' approval', approval === 'required')}${flag(' auto-refund', refund?.auto)}`;
}

const flag = (word: string, isSo: boolean | undefined): string => (isSo === true ? word : '');

const readingIn = ({ claim, sent, repeat = 'unknown' }: ClaimReading): string =>
  ` ${claim}/${sent}${repeat === 'unknown' ? '' : `/${repeat}`}`;

function claimsIn(known: Known, claims: Readonly<Record<string, ClaimReading>>): string {
  let text = '';
  for (const name in claims) {
    const claim = claims[name];
    if (claim !== undefined) text += ` [${name}: ${claimIn(known, name)} →${readingIn(claim)}]`;
  }
  return text;
}

/** Whether it brings something that the flow did not know. What the events say is an input of its own. */
function eventsIn({ events: known }: Known, events: readonly FlowEvent[]): string {
  if (events.length === 0) return '';
  return events.every(({ id }) => known.some(({ event }) => event.id === id)) ? ' known-events' : ' new-events';
}

function wordIn(plan: Plan, { request }: Step, word: string | null): string {
  if (word === null) return ' no-word';
  const { words = plan.words } = plan.requests.find(({ name }) => name === request) ?? {};
  // Of two POSTs it may be about the second one.
  return ` ${word.endsWith('DECLINED') ? 'declined' : classifyStatus(words, word)}`;
}

/** A word that is shown before it was paid is read by no rule. */
const paidIn = (plan: Plan, step: Step, { says, word }: PaidResult): string =>
  ` ${says}${says === 'paid' || says === 'other' ? wordIn(plan, step, word) : ''}`;

/** Of a bridge transfer alone the answer is read again: it holds the terms of a refund. */
function termsIn({ kind }: Plan, { request }: Step, answer: unknown): string {
  if (kind !== 'bridge-transfer' || request !== 'deposit' || answer == null) return '';
  return (answer as { readonly refund_config?: unknown }).refund_config == null ? ' bare-answer' : ' with-terms';
}
