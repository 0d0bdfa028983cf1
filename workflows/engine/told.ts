import type { TimelineEntry } from '../../src/api/flow.js';
import { UNREADABLE, type EventResult } from '../../src/protocol/messages.js';
import { withEntry } from './timeline.js';
import { isTrusted } from './events.js';
import type { Input, Known, Question, Request, StepName } from './known.js';
import type { Note, Plan, RequestPlan, Said, View } from './plan.js';
import { refundAmounts } from './refund-amounts.js';
import { requestOf, view } from './view.js';

/** What people read of a flow besides what it knows: its story so far. It travels through continue-as-new. */
export interface Told {
  readonly stage: string;
  readonly serviceReference: string | null;
  readonly updatedAt: string;
  readonly timeline: readonly TimelineEntry[];
}

export const newTold = (nowMs: number): Told => ({
  stage: 'preparing',
  serviceReference: null,
  updatedAt: new Date(nowMs).toISOString(),
  timeline: [],
});

/** What a person was asked was decided without them: by an event, or by the service's status. */
export const DECIDED_MEANWHILE: Note = { code: 'decided-meanwhile', detail: 'it was decided meanwhile' };

/** What one input adds to the story. Pure. @param see as `seeing` makes it, of the same plan and moment */
export function tell(told: Told, plan: Plan, before: Known, input: Input, after: Known, see: See): Told {
  const { nowMs } = see(after);
  const withReference = { ...told, serviceReference: told.serviceReference ?? referenceIn(see(after)) };
  return notesOf(plan, before, input, after, see).reduce((now, note) => add(now, note, nowMs), withReference);
}

export function add(told: Told, { code, detail, by = 'flow', stage = told.stage }: Note, nowMs: number): Told {
  const at = new Date(nowMs).toISOString();
  return { ...told, stage, updatedAt: at, timeline: withEntry(told.timeline, { at, stage, by, code, detail }) };
}

export type See = (known: Known, name?: string) => View;

/**
 * Views of what is known, each made once: a flow may hold hundreds of events. What is known after one input is known before
 * the next one, so that these two are kept while the moment lasts.
 */
export function seeing(plan: Plan): (nowMs: number) => See {
  let momentMs: number | null = null;
  let made = new Map<Known, Map<string, View>>();
  return (nowMs) => (known, name) => {
    if (momentMs !== nowMs) made = new Map();
    momentMs = nowMs;
    const views = made.get(known) ?? new Map<string, View>();
    if (!made.has(known)) made = new Map([...[...made].slice(-2), [known, views]]);
    const v = views.get(name ?? '') ?? view(known, plan, nowMs, undefined, name);
    return views.set(name ?? '', v).set(v.requestPlan.name, v) && v;
  };
}

function notesOf(plan: Plan, before: Known, input: Input, after: Known, see: See): readonly Note[] {
  return [
    ...notesOfInput(plan, before, input, after, see),
    ...notesOfEvents(plan, before, see(after)),
    ...askedFor(plan, after).flatMap((one) => notesOfStatus(plan, one, before, input, after, see)),
    ...(plan.tells?.(see(before), input, see(after)) ?? []),
  ];
}

function notesOfInput(plan: Plan, before: Known, input: Input, after: Known, see: See): readonly Note[] {
  const { nowMs } = see(after);
  switch (input.is) {
    case 'began':
      if (input.step.do === 'send' && isFirstSend(requestOf(before, input.step.request)))
        return [{ ...sendingOf(plan, input.step.request), detail: `sending ${nounOf(plan, input.step.request)}` }];
      if (
        input.step.do === 'read-inbox' &&
        nowMs >= before.deadlineAtMs &&
        (before.inbox?.askedAtMs ?? 0) < before.deadlineAtMs
      )
        return [{ code: 'deadline-passed', detail: 'the deadline passed; looking at the inbox once more' }];
      return [];
    case 'shown':
      if (input.question !== null)
        return [
          ...notesOfExpiry(before, input.question),
          { code: 'parked', detail: `parked: ${input.question.reason}` },
        ];
      return isByOrder(before) ? [] : [DECIDED_MEANWHILE];
    case 'carried-out':
      return [
        ...noteOfOrder(after, input.order, ({ action, note, actor }) =>
          action === 'pay'
            ? { code: 'pay-ordered', detail: 'ordered to pay', by: actor }
            : { code: 'order-taken', detail: `${action}: ${note}`, by: actor },
        ),
        ...notesOfVouched(see(after), input.order),
      ];
    case 'refused':
      // Of an invoice that is refused the reply says everything.
      return noteOfOrder(after, input.order, ({ action, actor }) =>
        action === 'cancel'
          ? { code: 'cancel-refused', detail: `cancel refused: ${input.why.text}`, by: actor }
          : { code: 'order-refused', detail: `${action} refused: ${input.why.text}`, by: actor },
      );
    case 'result':
      return noteOfResult(plan, before, input, see);
    case 'event':
    case 'order':
    case 'cancelled':
      return [];
    default:
      return input satisfies never;
  }
}

/** An event for which a person vouched counts from now on. */
function notesOfVouched(v: View, id: string): readonly Note[] {
  const { plan, known, said } = v;
  const { action, eventId } = known.orders.find((one) => one.id === id) ?? {};
  if (action !== 'accept-event' && action !== 'trust-settlement') return [];
  const vouched = said.find(({ of }) => of.event.id === eventId);
  return vouched === undefined ? [] : noteOfEvent(plan, stageIn(v), said, asProven(vouched));
}

/** Its figures are not held against it any more, if a person accepted them. */
const asProven = ({ of, differs, ...said }: Said): Said => ({
  ...said,
  of: { ...of, event: { ...of.event, proof: 'person' } },
  differs: of.said === 'accepted' ? [] : differs,
});

function notesOfExpiry({ parked }: Known, { reason }: Pick<Question, 'reason'>): readonly Note[] {
  return parked?.reason === 'refund_invoice_ready' && reason === 'refund_invoice_needed'
    ? [{ code: 'refund-invoice-expired', detail: 'the refund invoice expired before it was handed over' }]
    : [];
}

const isFirstSend = ({ answer, sent }: Request): boolean => answer === null && sent === 'nothing';

/** Those that the input names; before it is checked, the first one. */
const askedFor = ({ requests }: Plan, { prepared }: Known): readonly RequestPlan[] =>
  requests.filter(({ name, watching }, index) =>
    prepared === null ? index === 0 : watching !== undefined || name in prepared.steps,
  );

function sendingOf({ requests }: Plan, request: string): Pick<Note, 'stage' | 'code'> {
  const { stage = 'submitting', code = 'sending' } = requests.find(({ name }) => name === request)?.sending ?? {};
  return { stage, code };
}

export const nounOf = ({ noun, requests }: Plan, request: string): string =>
  requests.find(({ name }) => name === request)?.noun ?? noun;

/** The order that ended the question has a note of its own. */
export function isByOrder({ orders, parked }: Known): boolean {
  return orders.some(({ became, parkedSinceMs }) => became === 'carried-out' && parkedSinceMs === parked?.sinceMs);
}

function noteOfOrder({ orders }: Known, id: string, note: (order: Known['orders'][number]) => Note): readonly Note[] {
  const order = orders.find((one) => one.id === id);
  // Of a cancel that is carried out the end says everything, and of an invoice its terms.
  const isToldElsewhere = order?.action === 'cancel' && order.became === 'carried-out';
  const isOfReply = order?.action === 'refund-invoice' || (order?.action === 'pay' && order.became === 'refused');
  return order === undefined || isOfReply || isToldElsewhere ? [] : [note(order)];
}

function noteOfResult(
  plan: Plan,
  before: Known,
  { step, result }: Extract<Input, { is: 'result' }>,
  see: See,
): readonly Note[] {
  const order = before.orders.find(({ id }) => id === step.order);
  const isOverdue = see(before).nowMs >= before.deadlineAtMs;
  if (result.of === 'order-send' && result.isTaken) {
    const { repeat } = requestOf(before, step.request);
    const bySetting = ['DUPLICATE_REFERENCE', `the service is set to "${repeat}"`] as const;
    const [by, why] = order === undefined ? bySetting : [order.actor, order.note];
    return [{ code: 'send-again-ordered', detail: `to be sent again: ${why}`, by }];
  }
  if (result.of === 'order-send') return [NOT_SENT_AGAIN];
  if (result.of === 'close' && result.claim !== 'void')
    return [{ code: 'not-closed', detail: `not closed: the claim is ${result.claim}` }];
  if (result.of === 'follow' && result.lookup === 'cannot-tell' && isOverdue) return [NOT_ASKED];
  if (result.of === 'send' && result.answer === 'not-sent')
    return [{ code: 'not-sent', detail: `not sent (${result.shown.why ?? ''})` }];
  if (result.of === 'check-invoice' && result.given !== null) {
    const { amountMsat, expiresAt } = result.given;
    const { dueMsat, mostMsat } = refundAmounts(see(before));
    const unsure = dueMsat === null ? ` (how much is due is not known; ${mostMsat} msat came in)` : '';
    const detail = `a refund invoice over ${amountMsat} msat was given and checked${unsure}; good until ${expiresAt}`;
    return [{ code: 'refund-invoice-given', detail, ...(order === undefined ? {} : { by: order.actor }) }];
  }
  if (result.of === 'hand-over' && result.says === 'taken')
    return [{ code: 'refund-invoice-handed-over', detail: 'the service has taken the refund invoice' }];
  if (result.of !== 'no-answer') return [];
  if (step.do === 'look-status') return isOverdue ? [NOT_ASKED] : [];
  const note = UNANSWERED[step.do];
  return note === undefined ? [] : [note];
}

const NOT_SENT_AGAIN: Note = {
  code: 'send-again-failed',
  detail: 'not sent again: its claim could not be opened for another send',
};
const NOT_ASKED: Note = { code: 'not-asked', detail: 'the service could not be asked at the deadline' };
const UNANSWERED: Readonly<Partial<Record<StepName, Note>>> = {
  'read-inbox': { code: 'inbox-not-read', detail: 'the inbox could not be read' },
  'take-back': { code: 'may-still-send', detail: 'an attempt that is under way may still send' },
  close: { code: 'not-closed', detail: 'not closed: the store does not answer' },
  'order-send': NOT_SENT_AGAIN,
};

/** Each event is told once it can be compared. */
function notesOfEvents(plan: Plan, before: Known, v: View): readonly Note[] {
  const earlier = new Set(before.prepared === null ? [] : before.events.map(({ event }) => event.id));
  const { said } = v;
  const stage = stageIn(v);
  return said.filter(({ of }) => !earlier.has(of.event.id)).flatMap((one) => noteOfEvent(plan, stage, said, one));
}

function noteOfEvent(plan: Plan, stage: Stage, all: readonly Said[], { of, differs }: Said): readonly Note[] {
  const { event } = of;
  const by = event.source === 'settlement' ? 'provider' : 'service';
  const word = event.status ?? '(no status)';
  if (!isTrusted(of)) return [{ code: 'event-unverified', detail: `unverified ${word}: kept, moves nothing`, by }];
  if (differs.length > 0)
    return [{ code: 'event-differs', detail: `${word} differs from what we know in: ${differs.join(', ')}`, by }];
  if (event.status === null || of.isRepeated || isSaidBefore(all, of.event.id, event.status)) return [];
  const isKnown = Object.hasOwn(plan.words, event.status);
  const detail = `${word} (${event.proof ?? 'trusted'})${isKnown ? '' : ': an unknown word, kept; it is not final'}`;
  return [{ code: isKnown ? 'event-applied' : 'status-unknown', detail, by, ...stage }];
}

function isSaidBefore(all: readonly Said[], id: string, status: string): boolean {
  const until = all.findIndex(({ of }) => of.event.id === id);
  return all
    .slice(0, until)
    .some(({ of, differs }) => of.event.status === status && isTrusted(of) && differs.length === 0);
}

function notesOfStatus(
  plan: Plan,
  requestPlan: RequestPlan,
  before: Known,
  input: Input,
  after: Known,
  see: See,
): readonly Note[] {
  const { name } = requestPlan;
  const [was, is] = [requestOf(before, name), requestOf(after, name)];
  const words = is.words.slice(was.words.length);
  const then = see(before, name).executed;
  const { executed: now, is: so } = see(after, name);
  const notes: Note[] = [];
  const stage = stageIn(see(after));
  // An event had proven it before its answer came.
  const isAnswered = was.claim !== 'answered' && was.lookup?.says !== 'shown' && is.claim === 'answered';
  if (now === 'shown' && !so.elsewhere && (then !== 'shown' || (isAnswered && !is.proofWritten)))
    notes.push(noteOfShown(plan, requestPlan, stage, is));
  else if (isNowUnknown(was, is, name, input)) notes.push(noteOfUnknown(nounOf(plan, name), is));
  if (isFollowed(after, is, now) && !isFollowed(before, was, then)) notes.push(...notesOfAnswer(plan, after, is));
  if (now === 'shown' && is.claim === 'void' && !(then === 'shown' && was.claim === 'void'))
    notes.push({ code: 'closed-and-reported', detail: 'its claim is closed, and a trusted event reports it' });
  return [
    ...notes,
    ...words.map((word): Note => ({
      code: 'status-looked-up',
      detail: `${word} (looked up)`,
      by: 'service',
      ...stage,
    })),
  ];
}

/** The service has it, and its answer is known, or lost. */
const isFollowed = ({ running }: Known, { byClaim }: Request, executed: View['executed']): boolean =>
  executed === 'shown' && !byClaim && !running.some((step) => step.do === 'send');

function notesOfAnswer({ noteOfAnswer }: Plan, { prepared }: Known, { shown: { answer } }: Request): readonly Note[] {
  const [code, detail = ''] = noteOfAnswer?.(prepared?.input, answer) ?? [];
  return code === undefined ? [] : [{ code, detail }];
}

type Stage = Pick<Note, 'stage'>;

/** The furthest stage that a status so far has reached. */
function stageIn({ plan, request, said }: View): Stage {
  if (plan.stages === undefined) return {};
  const ours = said.filter(({ of, differs }) => isTrusted(of) && differs.length === 0);
  const words = [...request.words, ...ours.map(({ of }) => of.event.status)];
  const reached = plan.stages?.findLast(([, proving]) => proving.some((word) => words.includes(word)));
  return reached === undefined ? {} : { stage: reached[0] };
}

/** Its answer is known, or only an event proves that the service has it; or it was made elsewhere. */
function noteOfShown(
  plan: Plan,
  { name, watching, sending }: RequestPlan,
  at: Stage,
  { claim, lookup }: Request,
): Note {
  if (watching !== undefined) return { stage: 'tracking', code: 'watching', detail: watching };
  const noun = nounOf(plan, name);
  const stage = { stage: sending?.accepted === undefined ? 'tracking' : sending.stage, ...at };
  if (claim !== 'answered' && lookup?.says !== 'shown') {
    const detail = `a trusted event proves that the service has ${noun}`;
    return { ...stage, code: 'proven', detail, by: 'service' };
  }
  return { ...stage, code: sending?.accepted ?? 'accepted', detail: `${noun} accepted`, by: 'service' };
}

const isNowUnknown = (was: Request, is: Request, name: string, input: Input): boolean =>
  was !== is &&
  isAbout(input, name) &&
  ['unknown', 'duplicate', 'given-up', 'held-back'].includes(is.answer ?? '') &&
  ((input.is === 'result' && (input.result.of === 'send' || input.result.of === 'check')) ||
    input.is === 'cancelled') &&
  is.claim !== 'answered';

/** Of the check of the input it is about all of them. */
const isAbout = (input: Input, name: string): boolean =>
  (input.is === 'result' || input.is === 'cancelled') && (input.step.do === 'check' || input.step.request === name);

function noteOfUnknown(noun: string, { answer, shown }: Request): Note {
  const why =
    shown.why ??
    (answer === 'given-up' ? 'nothing was known of it at the deadline' : 'an earlier run of the flow began to send it');
  if (answer === 'held-back') return { stage: 'outcome-unknown', code: 'send-held-back', detail: `${noun} (${why})` };
  const detail = `${noun} may have been sent, and its outcome is unknown (${why})`;
  return { stage: 'outcome-unknown', code: 'outcome-unknown', detail };
}

/** The service's own id of the record: in its answer, or in an event of ours. */
function referenceIn({ plan, known, said }: View): string | null {
  const answers = Object.values(known.requests).map(({ shown }) => shown.answer);
  const id = answers.map(plan.serviceReferenceOf ?? idIn).find((one) => typeof one === 'string' && one !== '');
  if (typeof id === 'string') return id;
  const ours = said.filter(({ of, differs }) => isTrusted(of) && differs.length === 0);
  const named = ours
    .map(({ of }) => of.event.facts['serviceReference'])
    .find((one) => one !== undefined && one !== UNREADABLE);
  return named ?? null;
}

const idIn = (answer: unknown): unknown => ((answer ?? {}) as { readonly id?: unknown }).id;

/** What became of each event, for the inbox. */
export function eventResults(plan: Plan, known: Known, nowMs: number): Readonly<Record<string, EventResult>> {
  const { said } = view(known, plan, nowMs);
  return Object.fromEntries(said.map((one) => [one.of.event.id, resultOf(said, one)]));
}

function resultOf(all: readonly Said[], { of, differs }: Said): EventResult {
  const { event } = of;
  const isAgreed =
    event.status !== null &&
    all.some((other) => isTrusted(other.of) && other.differs.length === 0 && other.of.event.status === event.status);
  if (!isTrusted(of)) return differs.length === 0 && (isAgreed || of.isRepeated) ? 'duplicate' : 'unverified';
  if (of.said === 'dismissed' || (differs.length > 0 && of.said !== 'accepted')) return 'conflicting';
  const isNew = event.status !== null && !of.isRepeated && !isSaidBefore(all, event.id, event.status);
  return isNew ? 'applied' : 'duplicate';
}
