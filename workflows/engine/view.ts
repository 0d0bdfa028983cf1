import {
  endingsOf,
  executed,
  paymentStateOf,
  postStep,
  refusedStep,
  type PostEvidence,
} from '../../src/protocol/decisions.js';
import { isUnread, type FlowEvent } from '../../src/protocol/messages.js';
import { classifyOfAnyKind, isFinal, type Meaning } from '../../src/protocol/statuses.js';
import { factsOf, isTrusted, meaningFor, saidBy } from './events.js';
import { hasLookup as canLookUp } from './lookup.js';
import { isPaid, type Known, type Request } from './known.js';
import type { Condition, Plan, RequestPlan, Said, View } from './plan.js';

/** For the model: conditions that always say the same. */
export type Planted = Partial<Record<Condition, boolean>>;

/** Of one request: it may have been sent. */
export function mayBeSent({ answer, claim, sent }: Request): boolean {
  if (claim === 'void' && sent === 'nothing') return false;
  const isUnsent = claim === 'free' || claim === 'reserved';
  return !isUnsent || !NOTHING_LEFT.includes(answer);
}

/** A POST left, also one that was turned away: without the check nothing can be asked about it, nor ordered. */
export const hasTried = ({ is, known }: View): boolean =>
  is.maybeSent || Object.values(known.requests).some(({ sent }) => sent !== 'nothing');

/** Nothing of ours may have been executed: it was never sent, the service refused it, or the claim is another request's. */
const isUnsent = (request: Request): boolean =>
  !mayBeSent(request) ||
  (request.sent !== 'unknown' && (request.claim === 'rejected' || request.answer === 'other-request'));

/** Answers after which nothing has left, unless the claim says otherwise. */
const NOTHING_LEFT: readonly Request['answer'][] = [
  null,
  'held-back',
  'not-sent',
  'gone',
  'done-elsewhere',
  'quote-expired',
  'unsendable',
];

/**
 * All that follows for the request that is current: the first that is not over, or the last one.
 * @param name of another request
 */
export function view(known: Known, plan: Plan, nowMs: number, planted?: Planted, name?: string): View {
  const over: string[] = [];
  for (const requestPlan of plan.requests) {
    const v = viewOf(known, plan, nowMs, requestPlan, over, planted);
    if (requestPlan.name === name) return v;
    const isLast = requestPlan === plan.requests.at(-1);
    if (name === undefined && (isLast || requestPlan.isOver?.(v) !== true)) return v;
    over.push(requestPlan.name);
  }
  throw new TypeError(`${plan.kind} has no request "${name ?? ''}"`);
}

function viewOf(
  known: Known,
  plan: Plan,
  nowMs: number,
  requestPlan: RequestPlan,
  before: readonly string[],
  planted?: Planted,
): View {
  const over = [...before];
  const request = requestOf(known, requestPlan.name);
  const hasLookup = planted?.hasLookup ?? canLookUp(known, requestPlan);
  // What events are about.
  const told = plan.requests.find(({ name }) => name === requestPlan.eventsOf) ?? requestPlan;
  const isOwn = told === requestPlan;
  const facts = known.prepared === null ? null : (told.factsOf?.(known) ?? factsOf(known, told.name));
  const said = facts === null ? [] : saidBy(plan, told, known, facts);
  const trusted = said.filter(({ of }) => isTrusted(of));
  const ours = trusted.filter(
    ({ of, differs }) => of.said !== 'dismissed' && (differs.length === 0 || of.said === 'accepted'),
  );
  const mismatches = trusted.filter(
    ({ of, differs }) => differs.length > 0 && (of.said === null || of.said === 'trusted'),
  );
  // What the lookup has shown of what events are about.
  const shown = isOwn ? request.words : requestOf(known, told.name).words;
  const seen = [...request.words, ...shown, ...ours.map(({ of }) => of.event.status)];
  const hints = said.filter(({ of }) => !isTrusted(of) && of.said === null);
  const claimsMore = hints.length === 0 ? undefined : told.claimsMore?.(known, ours);
  const claimed = hints.filter(
    ({ of, differs }) => differs.length > 0 || !seen.includes(of.event.status) || claimsMore?.(of.event) === true,
  );

  const watches = planted?.watches ?? requestPlan.watching !== undefined;
  const isSent = !isUnsent(request);
  const reporting = ours
    .filter(({ meaning }) => isOwn || meaning === 'succeeded' || meaning === 'refunded')
    .filter(({ of }) => requestPlan.reports?.(of.event.status, isSent && of.atMs >= request.firstSendAtMs) ?? true);
  const wasPaid = isPaid(request.paid);
  const mayMove = plan.requests.filter(({ movesNothing, name }) => movesNothing !== true || !over.includes(name));
  const reportedByEvents = ours.map(({ meaning }) => meaning);
  const byEvents = plan.isOnlyHinted === true ? [] : reportedByEvents;
  const ofOwn = isOwn ? byEvents : [];
  // Where the service may decide otherwise, its last word counts alone.
  const words = plan.isOnlyHinted === true ? [request.word] : request.words;
  const meaningOf = (word: string | null): Meaning => meaningFor(plan, requestPlan, request, word);
  const byLookup = words.map(meaningOf);
  // Where a lookup may not know it, events end it, too: not as failed against a record that it has shown.
  const isShownOtherwise =
    planted?.shownOtherwise ??
    (requestPlan.provenByEvents === true && request.word !== null && meaningOf(request.word) !== 'failed');
  const byBoth = isShownOtherwise ? ofOwn.filter((meaning) => meaning !== 'failed') : ofOwn;
  const proven = hasLookup ? [...byLookup, ...(requestPlan.provenByEvents === true ? byBoth : [])] : ofOwn;
  const state = paymentStateOf(proven, hasLookup ? ofOwn : []);
  // What cannot be compared yet stands against an order all the same.
  const early = facts === null ? known.events.filter(isTrusted) : [];
  const earlyMeanings = plan.isOnlyHinted === true ? [] : early.map(({ event }) => meaningOf(event.status));
  const byShown = isOwn ? byLookup : shown.map((word) => meaningFor(plan, told, requestOf(known, told.name), word));
  const endings = endingsOf([...byShown, ...byEvents, ...earlyMeanings]);
  const hasFailed = request.claim === 'rejected' || (state.kind === 'ended' && state.meaning === 'failed');
  const failedAtMs = ours.findLast(({ meaning }) => meaning === 'failed')?.of.atMs;
  // A lookup that may not know it decides only what it has shown.
  const isDecided = hasLookup && (requestPlan.provenByEvents !== true || byLookup.includes('failed'));
  const graceUntilMs = isDecided || failedAtMs === undefined ? 0 : failedAtMs + known.graceMs;
  const send = known.running.find((step) => step.do === 'send' && step.request === requestPlan.name);
  const { inbox, stop, deadlineAtMs, turn } = known;
  // What was said before the last wait was over says nothing any more.
  const sinceMs = Math.max(...[deadlineAtMs, request.underWayUntilMs].filter((ms) => ms <= nowMs), 0);
  const deadlineReadings = [inbox, ...(hasLookup ? [request.lookup] : [])];

  const is: Record<Condition, boolean> = {
    hasLookup,
    shownOtherwise: isShownOtherwise,
    overdue: nowMs >= deadlineAtMs,
    sending: send !== undefined,
    maybeSent: mayMove.some((one) => mayBeSent(requestOf(known, one.name))),
    watches,
    elsewhere: wasPaid && isUnsent(request),
    reported: !watches && (early.length > 0 || reporting.length > 0 || mismatches.length > 0),
    vetoed: !isDecided && hasFailed && isAgainstFailure(claimed, claimsMore),
    inboxAsked: inbox?.turn === turn,
    inboxRead: inbox?.turn === turn && inbox.says === 'read',
    looked: !hasLookup || request.lookup?.turn === turn,
    asked: requestPlan.byOthersToo !== true || (request.paid?.turn === turn && request.paid.askedAtMs >= sinceMs),
    lookedAtDeadline: deadlineReadings.every((reading) => (reading?.askedAtMs ?? -1) >= deadlineAtMs),
    hinted: isOwn && hasLookup && reportedByEvents.some((meaning) => isHint(meaning) && !byLookup.includes(meaning)),
    underWay: nowMs < request.underWayUntilMs,
    refundPending: proven.includes('refund-pending'),
    inGrace: nowMs < graceUntilMs,
    untrusted: claimed.length > 0,
    stopAsked: stop?.turn === turn,
    ...planted,
  };
  // Before ours is sent an event may be of another's payment: the lookup says so, or nothing does.
  const proves = isOwn && reporting.length > 0 && (requestPlan.byOthersToo !== true || isSent);
  const post: PostEvidence = {
    // What was made elsewhere is there from the start.
    claim: watches && known.prepared !== null ? 'answered' : request.claim,
    lookup: wasPaid ? 'shown' : hasLookup ? (request.lookup?.says ?? 'cannot-tell') : 'no-lookup',
    trusted: proves ? 'shown' : mismatches.length > 0 ? 'other' : 'nothing',
    untrusted: is.untrusted,
    saidToExist: request.saidToExist,
    windowOver: request.windowOver,
    overdue: is.overdue,
  };
  // What an event held back, and what only a gateway could send, is not sent again by a setting.
  const cannotRepeat = request.answer === 'held-back' || requestPlan.byGateway === true;
  const v = {
    known,
    plan,
    nowMs,
    is,
    requestPlan,
    request,
    over,
    said,
    send,
    post,
    executed: executed(post),
    postStep: postStep(post, cannotRepeat ? 'unknown' : request.repeat),
    state,
    endings,
    mismatches,
    ours,
    reporting,
    claimed,
    graceUntilMs,
    order: known.orders.find(({ became }) => became === null),
  };
  const own = once(() => (known.prepared === null ? undefined : plan.derive?.(v)));
  return {
    ...v,
    get own() {
      return own();
    },
  };
}

/** Many views are never asked for what the plan derives, and that reads every event. */
function once<T>(derive: () => T): () => T {
  let derived: { readonly it: T } | null = null;
  return () => (derived ??= { it: derive() }).it;
}

export function requestOf({ requests }: Known, name: string): Request {
  const request = requests[name];
  if (request === undefined) throw new TypeError(`the flow has no request "${name}"`);
  return request;
}

const isHint = (meaning: Meaning): boolean => isFinal(meaning) || meaning === 'refund-pending';

/** An untrusted event proves nothing, and is enough to keep a flow from ending as failed by itself. */
function isAgainstFailure(claimed: readonly Said[], claimsMore?: (event: FlowEvent) => boolean): boolean {
  // Of whichever kind: a word that this one does not know may mean that it was paid.
  const endings = endingsOf(claimed.flatMap(({ meaning, of }) => [meaning, classifyOfAnyKind(of.event.status)]));
  return (
    refusedStep(endings).do === 'park' ||
    claimed.some(({ of }) => isUnread(of.event.facts) || claimsMore?.(of.event) === true)
  );
}
