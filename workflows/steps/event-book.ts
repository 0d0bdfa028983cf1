import type { EventFate, FlowEvent } from '../../src/flows/messages.js';

/** Decides what an event does to its flow; pure of commands, since it runs inside signal handlers. */
export type Absorb = (event: FlowEvent) => EventFate;

/** What travels through continue-as-new. */
export interface EventBookState {
  readonly fates: Readonly<Record<string, EventFate>>;
  readonly waiting: readonly FlowEvent[];
}

export interface EventBook {
  /** Takes each id once, and none after `close`. Events that come before `absorbWith` wait in order. */
  take(event: FlowEvent): void;
  /** The flow has ended: what comes from now on changes nothing, and must be listed as late. */
  close(): void;
  absorbWith(absorb: Absorb): void;
  settle(id: string, fate: EventFate): void;
  knows(id: string): boolean;
  fates(): Readonly<Record<string, EventFate>>;
  state(): EventBookState;
}

/** Every event that a flow received, once each, with what became of it. */
export function openEventBook(carried?: EventBookState): EventBook {
  const fates: Record<string, EventFate> = { ...carried?.fates };
  const ids = new Set([...Object.keys(fates), ...(carried?.waiting ?? []).map((event) => event.id)]);
  let waiting: FlowEvent[] = [...(carried?.waiting ?? [])];
  let absorb: Absorb | undefined;
  let closed = false;

  return {
    take(event) {
      if (closed || ids.has(event.id)) return;
      ids.add(event.id);
      if (absorb === undefined) waiting.push(event);
      else fates[event.id] = absorb(event);
    },
    close() {
      closed = true;
    },
    absorbWith(next) {
      absorb = next;
      const early = waiting;
      waiting = [];
      for (const event of early) fates[event.id] = next(event);
    },
    settle(id, fate) {
      fates[id] = fate;
    },
    knows: (id) => ids.has(id),
    fates: () => fates,
    state: () => ({ fates, waiting }),
  };
}

/** Reads a signal's argument: a list of events, of which those that are none are left out. */
export function eventsOf(argument: unknown): readonly FlowEvent[] {
  if (!Array.isArray(argument)) return [];
  return argument.filter(isFlowEvent);
}

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
