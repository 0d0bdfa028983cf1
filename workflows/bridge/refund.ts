import type { Cause } from '../../src/protocol/causes.js';
import { refundRefusal } from '../../src/protocol/decisions.js';
import type { Facts } from '../../activities/types.js';
import { openedIdOf } from '../../src/protocol/events.js';
import { flowIdOf, refundReferenceOf } from '../../src/protocol/vocabulary.js';
import { fitsPath, readReference } from '../../src/readers/reference.js';
import { REFUND_CONFIRM_MS, REFUND_WAIT_MS } from '../engine/policies.js';
import type { Known, Request } from '../engine/known.js';
import type { Rule, View } from '../engine/plan.js';
import {
  askOn,
  isOfAnother,
  isSought,
  look,
  lookAtStatus,
  readInbox,
  readInboxOn,
  send,
  takenBack,
  voidOnly,
} from '../engine/situation.js';
import { mayBeSent, requestOf } from '../engine/view.js';
import { otherCameIn, refundTerms, sentFacts } from './refund-terms.js';
import { shownBeginning } from './refund-due.js';
import { REPORT } from './report.js';
import { endEvidence, endStepOf, isRefunded, theirsBegun, transferOf, type Transfer } from './transfer.js';

/** What events say is of the deposit, whichever request is current. Before the input is checked nothing is known. */
export const transferIn = ({ own, ...v }: View): Transfer => (own as Transfer | undefined) ?? transferOf(v);

export const isRefund = ({ requestPlan }: View): boolean => requestPlan.name === 'refund';
const refundOf = (known: Known): Request => requestOf(known, 'refund');

/** It was sent, or is being sent, or cannot be any more. */
export function isBegun(known: Known): boolean {
  const { claim, sent, answer, byClaim } = refundOf(known);
  const isClosed = claim === 'void' && sent === 'nothing' && (answer !== 'void' || byClaim);
  if (known.running.some((step) => step.do === 'send' && step.request === 'refund')) return true;
  const isTried = answer === 'other-request' || answer === 'void';
  return !isClosed && (mayBeSent(refundOf(known)) || isTried || claim === 'ordered');
}

/** From then on the service is no longer expected to refund by itself. */
export function theirsOverAtMs({ known }: View, transfer: Transfer): number {
  const lifeMs = transfer.deposit?.refund?.lifeMs ?? REFUND_WAIT_MS;
  return (transfer.failedAtMs ?? 0) + Math.max(1, Math.ceil(lifeMs * known.timeScale));
}

/** By a deposit of ours: the terms of another one are not ours to refund by. */
export const isOwed = (v: View): boolean =>
  v.executed === 'shown' && !isOfAnother(v) && endStepOf(transferIn(v)).do === 'refund';

/** Why a refund with usable terms is not sent by the input's permission alone; null: it is. */
function whyNotByInput(v: View, transfer: Transfer): Cause | null {
  if (v.nowMs < theirsOverAtMs(v, transfer))
    return { code: 'service_may_refund', text: 'the deadline passed, and the service still has time to refund' };
  if (!transfer.input.refund.auto) return { code: 'refund_not_automatic', text: 'the input does not say refund.auto' };
  const evidence = { ...endEvidence(transfer), termsStand: true, theirsBegun: theirsBegun(transfer) };
  const why = otherCameIn(transfer) ?? refundRefusal({ ...evidence, by: 'input' });
  return why ?? (v.known.transfer?.wasAsked === true ? A_PERSON_DECIDES : null);
}

const A_PERSON_DECIDES: Cause = { code: 'refund_not_automatic', text: 'a person was asked, who decides from then on' };

/** Why none is sent now; null: it is. */
export function whyNoRefund(v: View): Cause | null {
  const transfer = transferIn(v);
  const terms = refundTerms(transfer);
  if ('code' in terms) return terms;
  const { answer, claim, shown } = refundOf(v.known);
  if (answer === 'unsendable') return { code: 'refund_not_sendable', text: shown.why ?? 'it cannot be sent as it is' };
  if (answer === 'held-back' && !hasCome(v.known)) return HELD_BACK;
  if (claim === 'void') return CLAIM_CLOSED;
  const { refund } = v.known.transfer ?? {};
  // One that was begun, and never left: what has come since stands against it as against any other send of it.
  const again = refund?.cryptoAmount == null ? null : whyNotAgain(v);
  if (again !== null || refund?.by === 'person') return again;
  return whyNotByInput(v, transfer);
}

/** An event on which the last decision to send did not rest: then it is decided anew. */
function hasCome({ events, transfer }: Known): boolean {
  const judged = transfer?.heldBack ?? [];
  return events.some(({ event }) => !judged.includes(openedIdOf(event.id)));
}

export const CLAIM_CLOSED: Cause = { code: 'refund_claim_closed', text: 'the claim of the refund is void' };

const HELD_BACK: Cause = {
  code: 'event_came',
  text: 'an event in the inbox may say that it ended otherwise, or was refunded, or that less came in',
};

/** The lookup shows another status than a failure, or nothing now. One that does not know the deposit decides nothing. */
export const isUnconfirmed = ({ is, request: { word, lookup } }: View): boolean =>
  is.hasLookup && word !== 'FAILED' && lookup?.says !== 'no-lookup';

/** Where the lookup knows the deposit, it has shown the failure in this very turn: nothing else has come of it. */
function isShownNow({ is, request: { word, lookup }, known: { transfer, turn } }: View): boolean {
  if (!is.hasLookup || (word === null && lookup?.says === 'no-lookup')) return true;
  return word === 'FAILED' && transfer?.lookedTurn === turn;
}

/** Of a view of the deposit: a refund of ours is to be sent. */
export function isRefundDue(v: View): boolean {
  const isOrdered = v.known.transfer?.refund?.by === 'person';
  if (!isOwed(v) || v.mismatches.length > 0 || whyNoRefund(v) !== null) return false;
  // What is to be done about the deposit first.
  if (v.request.unwritten || v.order !== undefined || transferIn(v).toReport !== null) return false;
  return isOrdered || (v.is.inboxRead && v.is.looked && isShownNow(v));
}

/** What the service's record must match: what was sent, as far as this run knows that. Null: it cannot be compared. */
export function factsOfRefund(known: Known): Facts | null {
  if (known.prepared === null) return null;
  const terms = refundTerms(transferOf({ known, ours: [], claimed: [] }));
  if ('code' in terms) return null;
  const { cryptoAmount: _cryptoAmount, ...facts } = sentFacts(terms);
  // Less may have been sent than the terms say.
  const amount = known.transfer?.refund?.cryptoAmount ?? null;
  return amount === null ? facts : { ...facts, cryptoAmount: amount };
}

/** It came to nothing, or never can come to anything. */
const isOver = (v: View): boolean =>
  v.request.claim === 'rejected' ||
  v.request.claim === 'void' ||
  v.request.answer === 'other-request' ||
  (v.state.kind === 'ended' && v.state.meaning !== 'succeeded');

/** Another send of less would be another request under its reference; and nobody ordered one beside theirs. */
export function whyNotAgain(v: View): Cause | null {
  const transfer = transferIn(v);
  const { refund } = v.known.transfer ?? {};
  const terms = refundTerms(transfer);
  if ('code' in terms) return terms;
  if (refund?.cryptoAmount != null && terms.cryptoAmount !== refund.cryptoAmount)
    return { code: 'less_came_in', text: 'an event has come since that says that less came in' };
  if (theirsBegun(transfer) && refund?.hadTheirsBegun !== true)
    return {
      code: 'service_refund_begun',
      text: "an event has come since that says that the service's own refund was begun",
    };
  return null;
}

/** Nothing is sent again by a setting that would not be sent for the first time. */
export function whyNotRepeated(v: View): Cause | null {
  const transfer = transferIn(v);
  const evidence = { ...endEvidence(transfer), termsStand: true, theirsBegun: theirsBegun(transfer) };
  return whyNotAgain(v) ?? otherCameIn(transfer) ?? refundRefusal({ ...evidence, by: 'input' });
}

/** Since when a confirmation is awaited, and until when, before a person is asked; ms. */
function confirmUntilMs({ known, request }: View): number {
  const { waitsSinceMs = 0, waitsUntilMs = 0 } = known.transfer ?? {};
  const sinceMs = Math.max(request.shownAtMs ?? 0, waitsSinceMs);
  return Math.max(sinceMs + Math.ceil(REFUND_CONFIRM_MS * known.timeScale), waitsUntilMs);
}

export const REFUND_RULES: readonly Rule[] = [
  {
    name: 'refund-due-again',
    says: 'An event held our refund back, and was judged since: it is sent all the same.',
    when: (v) =>
      isRefund(v) && v.request.answer === 'held-back' && !mayBeSent(v.request) && !(v.is.sending && v.is.overdue),
    follows: (v) => ({ steps: [send(v)], wakeAtMs: v.known.deadlineAtMs }),
  },
  {
    name: 'refund-not-again',
    says: 'Another send was ordered, and what has come since stands against it: the order is taken back.',
    when: (v) => isRefund(v) && v.request.claim === 'ordered' && (whyNotAgain(v) !== null || isSettledBeside(v)),
    follows: takenBack,
  },
  {
    name: 'refund-and-settled',
    says: 'A refund by us may have been sent, and something says that it was paid, or refunded by them: a person looks at both.',
    when: (v) => isRefund(v) && isSettledBeside(v),
    follows: (v) => ({ steps: askOn(v), park: 'conflict' }),
  },
  { ...REPORT, name: 'report-after-refund', when: (v) => isRefund(v) && isOver(v) && REPORT.when(v) },
  {
    name: 'theirs-after-all',
    says: 'Our refund came to nothing, and they have refunded: that is the end, once both were asked again.',
    when: (v) => isRefund(v) && isOver(v) && !isSought(v) && isRefunded(transferIn(v)),
    follows: (v) => {
      // A failure that the service takes back would make two of them.
      if (v.is.inboxRead && (v.is.looked || !isLookable(v)))
        return { steps: [], end: { state: 'refunded', reason: null } };
      const steps = [
        ...(v.is.inboxRead ? [] : [readInbox(v)]),
        ...(v.is.looked || !isLookable(v) ? [] : [lookAgain(v)]),
      ];
      return v.is.inboxAsked ? { steps, park: 'refund_failed' } : { steps, isCheck: true };
    },
  },
  {
    name: 'refund-arrived',
    says: 'Our refund is proven to have arrived: that is the end, unless the inbox says otherwise.',
    // What its claim holds is read first, as for any answer.
    when: (v) =>
      isRefund(v) && v.state.kind === 'ended' && v.state.meaning === 'succeeded' && !v.request.isOther && !isSought(v),
    follows: (v) => {
      if (v.is.inboxRead) return { steps: [], end: { state: 'refunded', reason: null } };
      return v.is.inboxAsked
        ? { steps: [readInbox(v)], park: 'refund_unconfirmed' }
        : { steps: [readInbox(v)], isCheck: true };
    },
  },
  {
    name: 'refund-failed-by-us',
    says: 'Our refund was refused, or it failed: it stays due, and a person sees to it.',
    when: (v) => isRefund(v) && isOver(v) && !isSought(v),
    follows: (v) => {
      // Why it was refused may lie in the inbox.
      if (!v.is.inboxAsked) return { steps: [readInbox(v)], isCheck: true };
      return { steps: v.is.inboxRead ? [] : [readInboxOn(v)], park: 'refund_failed' };
    },
  },
  {
    name: 'refund-unconfirmed',
    says: 'Our refund was accepted, and is not confirmed for an hour: a person decides, and its status is followed.',
    when: (v) => isRefund(v) && v.executed === 'shown' && v.state.kind === 'open' && v.nowMs >= confirmUntilMs(v),
    follows: (v) => ({ steps: askOn(v), park: 'refund_unconfirmed' }),
  },
  {
    name: 'refund-follow',
    says: 'Our refund was accepted: its status is followed for an hour.',
    when: (v) =>
      isRefund(v) && v.executed === 'shown' && v.state.kind === 'open' && !v.is.overdue && !v.request.isOther,
    follows: (v) => ({ steps: askOn(v), wakeAtMs: Math.min(confirmUntilMs(v), v.known.deadlineAtMs) }),
  },
];

const isSettledBeside = (v: View): boolean =>
  v.endings.includes('completed') || (v.endings.includes('refunded') && !isOver(v));

/** A claim that was never sent under has no status. */
const isLookable = (v: View): boolean => v.executed === 'shown';
const lookAgain = (v: View) => (v.executed === 'shown' ? lookAtStatus(v) : look(v));

/** An end of which our refund has no part: no attempt to send it may be left that could. */
export const voidRefund = (v: View) => voidOnly(v, 'refund', 'refunded');

/** By the service's own reference, once that is known. */
export function depositLookedUpAs({ prepared, requests }: Known) {
  const { flowId = '' } = prepared?.steps['deposit']?.claim ?? {};
  const answer = requests['deposit']?.shown.answer as { readonly kotani_reference_id?: string } | null | undefined;
  // In another grammar it cannot be asked for.
  const by = readReference(answer?.kotani_reference_id);
  return { flowId, input: prepared?.input, ...(by !== undefined && fitsPath(by) ? { by } : {}) };
}

/** Under which id a crypto send of that reference is looked up. */
export function lookUpAs({ prepared }: Known): { readonly flowId: string; readonly input: unknown } {
  const reference = refundReferenceOf(prepared?.steps['deposit']?.claim.reference ?? '');
  return { flowId: flowIdOf('crypto-send', reference), input: { referenceId: reference } };
}

/** Whether crypto was paid, and what trusted events say about the service's own refund of it; null: nothing. */
export function knownNow(transfer: Transfer) {
  const facts = transfer.theirRefund;
  const begun = shownBeginning(facts);
  const theirs = { theirRefund: facts['refundStatus'] ?? null, ...(begun === null ? {} : { theirRefundBegun: begun }) };
  return { cryptoPaid: endEvidence(transfer).fundsHeld, ...theirs };
}
