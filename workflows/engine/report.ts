import { shownCause, type Cause } from '../../src/protocol/causes.js';
import type { FlowReport, FlowView, Outcome, Parked } from '../../src/api/flow.js';
import type { SubmitAnswer } from '../../src/protocol/messages.js';
import { isFinal } from '../../src/protocol/statuses.js';
import type { EndReason, ParkReason } from '../../src/protocol/vocabulary.js';
import { brief, pick } from './events-in.js';
import { factsOf, meaningFor } from './events.js';
import type { Known, Question } from './known.js';
import type { End, Plan, Said, View } from './plan.js';
import { isOfAnother } from './situation.js';
import { eventResults, nounOf, type Told } from './told.js';
import { hasTried, view } from './view.js';

/** What the query shows that neither is known nor told. */
export interface Frame {
  readonly flowId: string;
  readonly reference: string;
  readonly startedAt: string;
}

export function reportOf(
  plan: Plan,
  frame: Frame,
  known: Known,
  told: Told,
  end: Outcome | null,
  nowMs: number,
): FlowReport {
  return { view: flowView(plan, frame, known, told, end, nowMs), events: eventResults(plan, known, nowMs) };
}

export function flowView(
  plan: Plan,
  frame: Frame,
  known: Known,
  told: Told,
  end: Outcome | null,
  nowMs: number,
): FlowView {
  const parked = end === null && known.parked !== null ? parkedOf(view(known, plan, nowMs), frame, known.parked) : null;
  return {
    kind: plan.kind,
    ...frame,
    state: end?.state ?? (parked === null ? 'running' : 'parked'),
    stage: end === null ? told.stage : 'done',
    serviceReference: told.serviceReference,
    updatedAt: told.updatedAt,
    deadlineAt: new Date(known.deadlineAtMs).toISOString(),
    terms: plan.termsOf?.(known) ?? known.prepared?.terms ?? null,
    parked,
    outcome: end,
    timeline: told.timeline,
  };
}

const parkedOf = (v: View, frame: Frame, question: Question): Parked => ({
  reason: question.reason,
  since: new Date(question.sinceMs).toISOString(),
  actions: question.actions,
  evidence: { ...evidenceOf(v, frame, question), ...undecided(v, question) },
});

type Evidence = Readonly<Record<string, unknown>>;

function evidenceOf(v: View, frame: Frame, { reason, about }: Question): Evidence {
  const own = v.plan.evidenceOf?.(v, reason);
  if (own !== undefined) return own;
  if (reason === 'event_mismatch') return mismatchIn(v, frame, about);
  if (reason === 'conflict') return conflictIn(v);
  if (reason === 'crypto_leg_failed') return { words: wordsOf(v), ...shownCause(HELD) };
  if (reason === 'refund_failed') return { words: wordsOf(v) };
  if (AT_DEADLINE.includes(reason)) {
    const claimed = v.claimed.filter(({ meaning }) => isFinal(meaning));
    return { words: wordsOf(v), claimed: claimed.map(({ of }) => brief(of.event)) };
  }
  if (reason !== 'step_failed') return postIn(v);
  const words = wordsOf(v);
  return {
    step: stepFailed(v),
    ...shownCause(whyFailed(v)),
    ...(words.length === 0 ? {} : { words }),
    ...claimedOf(v),
  };
}

function mismatchIn(
  { known, mismatches, requestPlan, plan }: View,
  { reference }: Frame,
  about: string | null,
): Evidence {
  const found = mismatches.find(({ of }) => of.event.id === about);
  if (found === undefined) return {};
  const { event, said } = found.of;
  return {
    // A person may have vouched for it before its figures were compared.
    event: { id: event.id, source: event.source, status: event.status, proof: said === null ? event.proof : 'person' },
    differs: found.differs,
    theirs: pick(event.facts, found.differs),
    ours: pick({ reference, ...(plan.shownFacts?.(known) ?? factsOf(known, requestPlan.name)) }, found.differs),
  };
}

function conflictIn(v: View): Evidence {
  const words = wordsOf(v);
  if (v.executed === 'shown' && isOfAnother(v)) {
    const why: Cause = {
      code: 'other_record',
      text: 'the record that the service has under this reference is of another payment',
    };
    return { ...(v.request.shown.other ?? v.request.shown.asked), ...shownCause(why), words };
  }
  return { words, ...shownCause(v.is.vetoed ? VETOED : EXCLUDES), ...claimedOf(v) };
}

const AT_DEADLINE: readonly ParkReason[] = ['no_settlement', 'unverified_settlement', 'no_decision', 'refund_pending'];
const HELD: Cause = {
  code: 'funds_held',
  text: 'the money was collected, and no lookup shows that it was given back',
};
const VETOED: Cause = {
  code: 'unverified_event_against_it',
  text: 'an unverified event claims another ending, or cannot be read',
};
const EXCLUDES: Cause = { code: 'proofs_exclude_one_another', text: 'what is proven excludes one another' };

function stepFailed({ known, request }: View): string {
  if (known.input !== 'valid') return 'the check of the input';
  if (request.unaskable !== null) return 'the lookup';
  return known.inbox?.says === 'cannot-tell' ? 'the reading of the inbox' : 'the end of the flow';
}

function whyFailed(v: View): Cause {
  if (v.known.input === 'invalid') {
    const text = v.known.refusal?.detail ?? '';
    return v.is.maybeSent ? { ...EARLIER_RUN, text: `${EARLIER_RUN.text}: ${text}` } : { code: 'invalid_input', text };
  }
  if (v.request.unaskable !== null) return { code: 'cannot_be_asked', text: v.request.unaskable };
  if (v.is.watches && v.known.input === 'unchecked')
    return { code: 'never_asked', text: 'it was started elsewhere, and could not be asked how it ended' };
  if (v.known.input === 'unchecked' && hasTried(v)) return EARLIER_RUN;
  if (v.is.inboxAsked && !v.is.inboxRead) return AWAY;
  if (v.is.reported) return { code: 'event_reports_it', text: 'a trusted event says that the service has it' };
  return AWAY;
}

const EARLIER_RUN: Cause = {
  code: 'earlier_run_may_have_sent',
  text: 'an earlier run of it may have sent, and it could not be checked',
};
const AWAY: Cause = { code: 'store_unavailable', text: 'the store cannot say now whether money moved' };

export function postIn(v: View): Evidence {
  const { request, requestPlan, known } = v;
  const { operation } = requestPlan;
  const reference = known.prepared?.steps[requestPlan.name]?.claim.reference;
  const { why, refused, asked } = request.shown;
  if (request.answer === 'held-back')
    // What the inbox holds as proven may be of another object under the reference: the flow reads it as a claim.
    return {
      operation,
      reference,
      why: `${why ?? ''}; and no event proves it`,
      code: 'event_reports_it',
      ...claimedOf(v),
    };
  if (request.lookup?.says === 'other') return asked ?? {};
  return {
    operation,
    reference,
    claim: request.claim,
    why:
      refused === null
        ? (v.plan.whyNotMade?.(v) ?? why)
        : 'another send was refused; of the earlier one that says nothing',
    ...(request.claim === 'sending' ? asked : {}),
    ...(refused === null ? {} : { refused }),
  };
}

const claimedOf = ({ claimed }: View): Evidence =>
  claimed.length === 0 ? {} : { claimed: claimed.map(({ of }) => brief(of.event)) };

/** Trusted events that differ, beside another question. */
function undecided({ mismatches }: View, { reason }: Question): Evidence {
  if (reason === 'event_mismatch' || mismatches.length === 0) return {};
  return {
    undecided: mismatches.map(
      ({
        of: {
          event: { id, source, status, facts },
        },
        differs,
      }: Said) => ({ id, source, status, differs, theirs: pick(facts, differs) }),
    ),
  };
}

const wordsOf = ({ request, ours }: View): readonly string[] => [
  ...new Set([...request.words, ...ours.flatMap(({ of }) => of.event.status ?? [])]),
];

/** How the flow ends, with a sentence for a person. */
export function outcomeOf(plan: Plan, known: Known, end: End, nowMs: number): Outcome {
  return { state: end.state, reason: end.reason, detail: detailOf(plan, known, end, nowMs) };
}

function detailOf(plan: Plan, known: Known, { state, reason, order: id }: End, nowMs: number): string {
  const v = view(known, plan, nowMs);
  const order = known.orders.find((one) => one.id === id);
  const by = order === undefined ? '' : `by ${order.actor}: ${order.note}`;
  const named = nounOf(plan, v.requestPlan.name);
  const noun = named.charAt(0).toUpperCase() + named.slice(1);
  const decides = v.state.kind === 'ended' ? v.state.meaning : null;
  const word = wordsOf(v).findLast((one) => meaningFor(plan, v.requestPlan, v.request, one) === decides) ?? '';
  const { rejection, why } = v.request.shown;
  const own = order === undefined ? plan.detailOf?.(v, { state, reason }) : undefined;
  if (own !== undefined) return own;
  if (reason === null) {
    if (order !== undefined) return `Marked as ${state} ${by}`;
    return state === 'completed'
      ? (plan.ends?.succeeded ?? `${noun} succeeded (${word}).`)
      : `${noun} was refunded (${word}).`;
  }
  const note = order === undefined || order.note === '' ? '' : ` (${order.note})`;
  if (plan.ends !== undefined && reason === plan.ends.failed[0]) return plan.ends.failed[1];
  const details: Readonly<Partial<Record<EndReason, string>>> = {
    closed_by_person: `Closed as failed ${by}`,
    cancelled_before_sending: `Cancelled by ${order?.actor ?? 'Temporal UI'}${note} before any money moved.`,
    deadline_passed: 'The deadline passed before any money moved.',
    not_executed:
      order === undefined
        ? `It was given up before (${why ?? 'void'}); nothing was sent.`
        : `Closed as not executed ${by}`,
    rejected_by_service: `The service refused ${named} (${rejection?.httpStatus ?? 0}): ${rejection?.message ?? ''}`,
    failed_at_service: `${noun} failed at the service (${word}).`,
    other_request_same_reference: why ?? '',
    card_details_expired: `The card was not sent in the minute that it is kept (${why ?? ''}). Nothing was charged; begin again with a new reference.`,
  };
  return details[reason] ?? known.refusal?.detail ?? '';
}

/**
 * The service's answer for the callers who wait for it; null: it is not known yet.
 * @param name the request; by default the first that the input names
 */
export function answerOf(
  plan: Plan,
  known: Known,
  end: Outcome | null,
  nowMs: number,
  name: string = firstOf(plan, known),
): SubmitAnswer | null {
  const v = view(known, plan, nowMs, undefined, name);
  const { answer, rejection } = v.request.shown;
  if (v.is.elsewhere) return { kind: 'none', reason: 'paid by another way' };
  if (v.executed === 'shown' && !v.is.watches) {
    if (isOfAnother(v)) return { kind: 'none', reason: 'conflict' };
    if (answer !== null && answer !== undefined) return { kind: 'accepted', answer };
    // The claim is asked for it first.
    if (v.request.lookup !== null || end !== null)
      return { kind: 'none', reason: 'proven by an event, the answer itself was lost' };
  }
  if (end?.reason === 'rejected_by_service' && rejection !== null) {
    const { httpStatus, message, code } = rejection;
    return { kind: 'rejected', httpStatus, message, code: code ?? null };
  }
  if (end !== null) return { kind: 'none', reason: end.reason ?? end.state };
  if (known.parked !== null) return { kind: 'none', reason: known.parked.reason };
  return null;
}

const firstOf = ({ requests }: Plan, { prepared }: Known): string =>
  (requests.find(({ name }) => prepared === null || name in prepared.steps) ?? requests[0])?.name ?? '';
