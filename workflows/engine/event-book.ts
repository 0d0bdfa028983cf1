import type { Cause } from '../../src/protocol/causes.js';
import type { Facts } from '../../activities/types.js';
import { openedIdOf } from '../../src/protocol/events.js';
import { readCode } from '../../src/readers/code.js';
import {
  factsAsRead,
  type EventResult,
  type FlowEvent,
  type Parked,
  type ResolveOrder,
} from '../../src/protocol/messages.js';

/** Decides what an event does to its flow; issues no commands, since it runs inside signal handlers. */
type Absorb = (event: FlowEvent) => EventResult;

/** Evidence from events besides their statuses. Travels through continue-as-new. */
export interface Evidence {
  /** Any trusted event proves that the service has what we sent. */
  proven: boolean;
  /** Untrusted events: shown, and never acted on alone. */
  unverified: readonly FlowEvent[];
  /** Trusted events that differ from what we know, until a person decided. */
  mismatches: readonly Mismatch[];
}

export interface Mismatch {
  readonly event: FlowEvent;
  readonly differs: readonly string[];
}

/** An event, for a person's eyes. */
export const brief = ({ id, status, receivedAt }: FlowEvent) => ({ id, status, receivedAt });

export const NO_EVIDENCE: Evidence = { proven: false, unverified: [], mismatches: [] };

/** What travels through continue-as-new. */
export interface EventBookState {
  readonly results: Readonly<Record<string, EventResult>>;
  readonly waiting: readonly FlowEvent[];
}

export interface EventBook {
  /** Takes each id once, and none after `close`. Events that come before `absorbWith` wait in order. */
  take(event: FlowEvent): void;
  /** The flow has ended: later events change nothing, and must be listed as late. */
  close(): void;
  /** Events that come from now on wait until `release`; if the flow ends before that, they are late. */
  hold(): void;
  release(): void;
  absorbWith(absorb: Absorb): void;
  settle(id: string, result: EventResult): void;
  knows(id: string): boolean;
  /** Early events that have not acted yet. */
  waiting(): readonly FlowEvent[];
  results(): Readonly<Record<string, EventResult>>;
  /** Of every event that it has taken. */
  ids(): readonly string[];
  state(): EventBookState;
}

/** Every event that a flow received, once each, with its outcome. */
export function openEventBook(carried?: EventBookState): EventBook {
  const results: Record<string, EventResult> = { ...carried?.results };
  const ids = new Set([...Object.keys(results), ...(carried?.waiting ?? []).map((event) => event.id)]);
  let waiting: FlowEvent[] = [...(carried?.waiting ?? [])];
  let absorb: Absorb | undefined;
  let closed = false;
  let held: FlowEvent[] | undefined;

  const take = (event: FlowEvent): void => {
    // One that it has taken need not be decrypted again.
    if (closed || ids.has(event.id) || ids.has(openedIdOf(event.id))) return;
    if (held !== undefined) {
      held.push(event);
      return;
    }
    ids.add(event.id);
    if (absorb === undefined) waiting.push(event);
    else results[event.id] = absorb(event);
  };

  return {
    take,
    hold() {
      held ??= [];
    },
    release() {
      const came = held ?? [];
      held = undefined;
      came.forEach(take);
    },
    close() {
      closed = true;
    },
    absorbWith(next) {
      absorb = next;
      const early = waiting;
      waiting = [];
      for (const event of early) results[event.id] = next(event);
    },
    settle(id, result) {
      results[id] = result;
    },
    knows: (id) => ids.has(id),
    waiting: () => waiting,
    results: () => results,
    ids: () => [...ids],
    state: () => ({ results, waiting }),
  };
}

/**
 * Reads a signal's argument: a list of events; entries that are not events are left out. Any client of Temporal may have
 * sent it: a word in another spelling would hold nothing back.
 */
export function eventsOf(argument: unknown): readonly FlowEvent[] {
  if (!Array.isArray(argument)) return [];
  return argument.filter(isFlowEvent).map((event) => ({
    ...event,
    status: wordAsRead(event.status),
    facts: factsAsRead(event.facts),
  }));
}

/** As the tables spell it. Two words are of our own making, of an event about another object: they stay two. */
const wordAsRead = (status: string | null): string | null =>
  status === null || /\S\s+\S/.test(status) ? status : (readCode(status) ?? status);

function isFlowEvent(value: unknown): value is FlowEvent {
  if (typeof value !== 'object' || value === null) return false;
  const event = value as Partial<Record<keyof FlowEvent, unknown>>;
  return (
    typeof event.id === 'string' &&
    typeof event.trusted === 'boolean' &&
    (event.status === null || typeof event.status === 'string') &&
    typeof event.facts === 'object' &&
    event.facts !== null
  );
}

/**
 * Why an order about an event cannot be taken, or null. A person vouches for exactly one event: if several came, the
 * order must name one, and an event that the flow does not hold is never replaced by another.
 */
export function validateEventChoice(parked: Parked, { action, eventId }: ResolveOrder): Cause | null {
  const asked = eventsAskedAbout(parked, action);
  if (asked === null) return null;
  if (eventId == null) {
    if (asked.length <= 1) return null;
    return { code: 'event_not_named', text: `Several events came. Name the one that is meant: ${asked.join(', ')}.` };
  }
  if (asked.includes(eventId)) return null;
  const text = `The flow does not ask about this event, but about ${asked.join(', ')}. What it does not hold can be replayed with trust.`;
  return { code: 'event_not_asked_about', text };
}

function eventsAskedAbout({ evidence }: Parked, action: string): readonly string[] | null {
  if (action === 'trust-settlement') return idsOf(evidence['claimed']);
  if (action === 'accept-event' || action === 'dismiss-event') return idsOf([evidence['event']]);
  return null;
}

function idsOf(shown: unknown): readonly string[] {
  // Nothing is shown of an event about which a person has just decided.
  return ((shown ?? []) as readonly ({ readonly id: string } | undefined)[]).flatMap((event) => event?.id ?? []);
}

/** The event of a `trust-settlement` that `validateEventChoice` let pass. */
export function selectedEvent(claimed: readonly FlowEvent[], { eventId }: ResolveOrder): FlowEvent | undefined {
  return eventId == null ? claimed.at(-1) : claimed.find(({ id }) => id === eventId);
}

/** The named facts. */
export function pick(facts: Facts, names: readonly string[]): Facts {
  const shown = names.flatMap((name) => [name, ...(UNITS_OF[name] ?? [])]);
  return Object.fromEntries(shown.flatMap((name) => (facts[name] === undefined ? [] : [[name, facts[name]]])));
}

/** What an amount is shown with: without its currency a person cannot judge it. */
const UNITS_OF: Readonly<Record<string, readonly string[]>> = {
  amount: ['currency'],
  settlementAmount: ['settlementCurrency'],
  cryptoAmount: ['token'],
  refundCryptoAmount: ['token'],
  fiatAmount: ['currency', 'fiatCurrency'],
  paidAmount: ['paidCurrency'],
};
