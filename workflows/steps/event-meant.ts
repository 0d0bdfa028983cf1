import type { FlowEvent, Parked, ResolveOrder } from '../../src/flows/messages.js';

/**
 * Why an order about an event cannot be taken, or null. A person vouches for one event and no other: where several came,
 * the order must name one, and one that the flow does not hold is never replaced by another.
 */
export function doubtOfEvent(parked: Parked, { action, eventId }: ResolveOrder): string | null {
  const asked = eventsAskedAbout(parked, action);
  if (asked === null) return null;
  if (eventId == null) {
    return asked.length > 1 ? `Several events came. Name the one that is meant: ${asked.join(', ')}.` : null;
  }
  if (asked.includes(eventId)) return null;
  return `The flow does not ask about this event, but about ${asked.join(', ')}. What it does not hold can be replayed with trust.`;
}

function eventsAskedAbout({ evidence }: Parked, action: string): readonly string[] | null {
  if (action === 'trust-settlement') return idsOf(evidence['claimed']);
  if (action === 'accept-event' || action === 'dismiss-event') return idsOf([evidence['event']]);
  return null;
}

function idsOf(shown: unknown): readonly string[] {
  return (shown as readonly { readonly id: string }[]).map(({ id }) => id);
}

/** The event of a `trust-settlement` that `doubtOfEvent` let pass. */
export function meantEvent(claimed: readonly FlowEvent[], { eventId }: ResolveOrder): FlowEvent | undefined {
  return eventId == null ? claimed.at(-1) : claimed.find(({ id }) => id === eventId);
}
