import type { Cause } from '../../src/protocol/causes.js';
import type { Facts } from '../../activities/types.js';
import { readCode } from '../../src/readers/code.js';
import type { Parked } from '../../src/api/flow.js';
import { factsAsRead, type FlowEvent, type ResolveOrder } from '../../src/protocol/messages.js';

/** An event, for a person's eyes. */
export const brief = ({ id, status, receivedAt }: FlowEvent) => ({ id, status, receivedAt });

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
