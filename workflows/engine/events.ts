import type { Facts } from '../../activities/types.js';
import { openedIdOf } from '../../src/protocol/events.js';
import { isUnread } from '../../src/protocol/messages.js';
import { classifyStatus, classifyWithDeclinedOpen, type Meaning } from '../../src/protocol/statuses.js';
import { hasLookup } from './lookup.js';
import { NOT_SENT, type Event, type Known, type Request } from './known.js';
import type { Plan, RequestPlan, Said } from './plan.js';

/**
 * Null until the input is checked: an event cannot be compared before. Of what was made elsewhere nothing is known, and
 * of what is still to be ordered only what the request before it says.
 */
export function factsOf({ prepared }: Known, request: string): Facts | null {
  if (prepared === null) return null;
  const [first] = Object.values(prepared.steps);
  return (prepared.steps[request] ?? first)?.facts ?? {};
}

/** The service's answer to our POST alone shows that its payment is ours: others can pay, too. */
export const mayBeTheirs = ({ byOthersToo }: RequestPlan, { answer, maybeTwice }: Request): boolean =>
  byOthersToo === true && (answer !== 'accepted' || maybeTwice);

/**
 * What a word of the service means for a request. Of a payment that may be another's, a failure ends nothing. Two POSTs
 * may have left: then DECLINED may be about the second one, and says nothing of the first.
 */
export function meaningFor(plan: Plan, requestPlan: RequestPlan, request: Request, word: string | null): Meaning {
  const { words = plan.words } = requestPlan;
  const { attemptWords = words } = plan;
  if (requestPlan.movesNothing === true || mayBeTheirs(requestPlan, request)) return classifyStatus(attemptWords, word);
  return request.maybeTwice ? classifyWithDeclinedOpen(words, word) : classifyStatus(words, word);
}

export function saidBy(plan: Plan, requestPlan: RequestPlan, known: Known, facts: Facts): readonly Said[] {
  const request = known.requests[requestPlan.name] ?? NOT_SENT;
  const { words, attemptWords = words } = plan;
  // What came before ours was sent is of another's attempt.
  const isEarlier = ({ atMs }: Event): boolean => requestPlan.byOthersToo === true && atMs < request.firstSendAtMs;
  const isHinting = isHint(known, requestPlan, request);
  return known.events.map((of) => ({
    of,
    meaning: isEarlier(of)
      ? classifyStatus(attemptWords, of.event.status)
      : meaningFor(plan, requestPlan, request, of.event.status),
    differs: [...differsOf(isHinting, facts, of), ...(requestPlan.alsoDiffers?.(known, of.event.facts) ?? [])],
  }));
}

/** The path decides whose event it is: one that names another reference differs. */
function differsOf(isHinting: boolean, facts: Facts, { event }: Event): readonly string[] {
  // It may say anything; where there is a lookup, that says it.
  if (openedIdOf(event.id) !== event.id) return ['body'];
  const other = event.facts['reference'] === undefined ? [] : ['reference'];
  const unread = isUnread(event.facts) && !isHinting ? ['body'] : [];
  return [...other, ...unread, ...differences(facts, event.facts)];
}

/** Where there is a lookup, that decides; before our send it may be about another's payment, and lag. */
function isHint(known: Known, requestPlan: RequestPlan, { claim }: Request): boolean {
  const { movesNothing, provenByEvents, byOthersToo } = requestPlan;
  if (!hasLookup(known, requestPlan) || movesNothing === true || provenByEvents === true) return false;
  return byOthersToo !== true || (claim !== 'free' && claim !== 'reserved');
}

/** The facts in which two sides differ; a fact that one of them lacks cannot differ. Each has one spelling. */
export function differences(ours: Facts, theirs: Facts): readonly string[] {
  return Object.keys(ours).filter((name) => theirs[name] !== undefined && theirs[name] !== ours[name]);
}

export const isTrusted = ({ event, said }: Event): boolean =>
  event.trusted || said === 'trusted' || said === 'accepted';
