import type { Facts } from '../../activities/types.js';
import { openedIdOf } from '../../src/protocol/events.js';
import { isUnread } from '../../src/protocol/messages.js';
import { classifyStatus, withDeclinedOpen, type Meaning } from '../../src/protocol/statuses.js';
import type { Event, Known } from './known.js';
import type { Plan, RequestPlan, Said } from './plan.js';

/** Null until the input is checked: an event cannot be compared before. Of what was made elsewhere nothing is known. */
export const factsOf = ({ prepared }: Known, request: string): Facts | null =>
  prepared === null ? null : (prepared.steps[request]?.facts ?? {});

/** Two POSTs may have left: then DECLINED may be about the second one, and says nothing of the first. */
export const meaningOf = (plan: Plan, maybeTwice: boolean, word: string | null): Meaning =>
  classifyStatus(maybeTwice ? withDeclinedOpen(plan.words) : plan.words, word);

export function saidBy(plan: Plan, request: RequestPlan, known: Known, facts: Facts): readonly Said[] {
  const { maybeTwice = false } = known.requests[request.name] ?? {};
  return known.events.map((of) => ({
    of,
    meaning: meaningOf(plan, maybeTwice, of.event.status),
    differs: differsOf(request, facts, of),
  }));
}

/** The path decides whose event it is: one that names another reference differs. */
function differsOf({ lookUp }: RequestPlan, facts: Facts, { event }: Event): readonly string[] {
  // It may say anything; where there is a lookup, that says it.
  if (openedIdOf(event.id) !== event.id) return ['body'];
  const other = event.facts['reference'] === undefined ? [] : ['reference'];
  const unread = isUnread(event.facts) && lookUp === 'none' ? ['body'] : [];
  return [...other, ...unread, ...differences(facts, event.facts)];
}

/** The facts in which two sides differ; a fact that one of them lacks cannot differ. Each has one spelling. */
export function differences(ours: Facts, theirs: Facts): readonly string[] {
  return Object.keys(ours).filter((name) => theirs[name] !== undefined && theirs[name] !== ours[name]);
}

export const isTrusted = ({ event, said }: Event): boolean =>
  event.trusted || said === 'trusted' || said === 'accepted';
