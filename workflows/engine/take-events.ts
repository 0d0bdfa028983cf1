import { MAX_UNTRUSTED, openedIdOf, unopenedIdOf } from '../../src/protocol/events.js';
import type { FlowEvent } from '../../src/protocol/messages.js';
import { classifyOfAnyKind, wordsOfSameEnding } from '../../src/protocol/statuses.js';
import type { Known } from './known.js';

const MAX_NOT_TAKEN = 200;

/** Something came that can change a decision. */
export const inNewTurn = (known: Known): Known => ({ ...known, turn: known.turn + 1 });

/** Each once. Judges none of them. */
export function takeEvents(known: Known, came: readonly FlowEvent[], nowMs: number): Known {
  return came.reduce((now, event) => takeEvent(now, event, nowMs), known);
}

function takeEvent(known: Known, event: FlowEvent, nowMs: number): Known {
  const { events } = known;
  // One that it has taken need not be decrypted again.
  if (events.some(({ event: { id } }) => id === event.id || id === openedIdOf(event.id))) return known;
  if (!event.trusted && isOneTooMany(known, event)) return known;
  const isRepeated = Object.values(known.requests).some(
    ({ words }) => event.status !== null && words.includes(event.status),
  );
  const unopened = unopenedIdOf(event.id);
  const kept = events.filter((earlier) => earlier.event.id !== unopened);
  return inNewTurn({ ...known, events: [...kept, { event, atMs: nowMs, isRepeated, said: null }] });
}

/**
 * Anyone may post untrusted events. The first of each ending, and of each kind of fact, is always kept: it may hold
 * something back.
 */
function isOneTooMany({ events }: Known, event: FlowEvent): boolean {
  const untrusted = events.filter((one) => !one.event.trusted);
  if (untrusted.length < MAX_UNTRUSTED) return false;
  const known = new Set(untrusted.flatMap((one) => saysOf(one.event)));
  return saysOf(event).every((one) => known.has(one));
}

/** The ending that it reports, or that money came in; and of what it gives a fact. */
function saysOf({ status, facts }: FlowEvent): readonly string[] {
  const [ending] = wordsOfSameEnding(status);
  const isCollected = classifyOfAnyKind(status) === 'collected';
  return [
    ...(ending === undefined ? [] : [`ends ${ending}`]),
    ...(isCollected ? ['collected'] : []),
    ...Object.keys(facts),
  ];
}

/** More untrusted events than a flow keeps prove nothing, and must not keep it from its end. */
export function leaveEvents(known: Known, came: readonly FlowEvent[]): Known {
  const isKept = (id: string): boolean => known.events.some(({ event }) => openedIdOf(event.id) === openedIdOf(id));
  const left = came.map(({ id }) => openedIdOf(id)).filter((id) => !isKept(id) && !known.notTaken.includes(id));
  return left.length === 0
    ? known
    : inNewTurn({ ...known, notTaken: [...known.notTaken, ...left].slice(-MAX_NOT_TAKEN) });
}
