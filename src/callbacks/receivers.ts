import {
  bulkhead,
  type BulkheadPolicy,
  BulkheadRejectedError,
  BrokenCircuitError,
  circuitBreaker,
  type CircuitBreakerPolicy,
  CircuitState,
  ConsecutiveBreaker,
  ExponentialBackoff,
  handleType,
  noJitterGenerator,
} from 'cockatiel';
import { CallbackUnreachableError } from './post.js';
import { systemClock } from '../clock.js';

/** Callbacks about the flows of one name, to one receiver, that a worker has open at a time. */
const MOST_OPEN = 20;
/** For one name, however many receivers its flows have: of all places, and of those of strangers. It leaves the rest to others. */
const MOST_OF_NAME = { open: 80, toStrangers: 60 };
/** The rest of a worker's 100 slots is reserved for receivers that answered promptly last time. */
const MOST_OPEN_TO_STRANGERS = 80;
/** An answer is a matter of milliseconds, ms. */
const PROMPT_MS = 2_000;
/** After this many callbacks in a row without an answer, the circuit of an origin opens. */
const MISSES_TO_OPEN = 3;
/** Then one callback tries again after this time, ms, which doubles each time that it gets no answer either. */
const PROBED_AFTER_MS = { first: 15_000, most: 300_000 };
/** Most receivers, and origins, that a worker remembers. */
const MOST_REMEMBERED = 2_000;

/** No callback was sent, and why: others to its receiver are open, or the circuit of its origin is. */
export class HeldBackError extends Error {
  override readonly name = 'HeldBackError';
  readonly because: 'busy' | 'circuit';

  constructor(because: 'busy' | 'circuit') {
    super(
      because === 'busy'
        ? 'Other callbacks to this receiver are still open.'
        : 'The receiver did not answer the last ones: one callback at a time tries it.',
    );
    this.because = because;
  }
}

/**
 * The destination of a callback. A receiver has any number of origins: a dead one says nothing about the others. Nor does
 * what one name sends to a receiver say anything about another name's callbacks to it: whoever starts a flow chooses its URL.
 */
interface Destination {
  /** The name whose flow it is about. */
  readonly owner: string;
  /** By `receiverOf`. */
  readonly receiver: string;
  readonly origin: string;
}

export interface Receivers {
  /**
   * Makes one attempt, if the receiver may have one now. Any answer closes the circuit.
   * @throws HeldBackError if not, and any error of `attempt`
   */
  attempt<T>(to: Destination, attempt: () => Promise<T>): Promise<T>;
  /** Since when the circuit is open or half-open, ms since 1970; undefined if it is closed. */
  openSinceMs(to: Pick<Destination, 'owner' | 'origin'>): number | undefined;
}

interface Places {
  readonly bulkhead: BulkheadPolicy;
  isPrompt: boolean;
}

interface Circuit {
  readonly policy: CircuitBreakerPolicy;
  openSinceMs: number | undefined;
}

/**
 * What a worker remembers about the receivers of its callbacks.
 * @param circuitsChanged is called with the number of open circuits after each change
 */
export function createReceivers(monotonicMs: () => number, circuitsChanged: (open: number) => void): Receivers {
  const places = createMemory<Places>({
    make: () => ({ bulkhead: bulkhead(MOST_OPEN), isPrompt: false }),
    mayForget: ({ bulkhead: { executionSlots } }) => executionSlots === MOST_OPEN,
    isProtected: ({ isPrompt }) => isPrompt,
  });
  const circuits = createMemory<Circuit>({
    make: newCircuit,
    mayForget: ({ policy }) => policy.state !== CircuitState.HalfOpen,
    isProtected: ({ openSinceMs }) => openSinceMs !== undefined,
    forget: (circuit) => setOpen(circuit, undefined),
  });
  const names = createMemory({
    make: () => ({ open: bulkhead(MOST_OF_NAME.open), toStrangers: bulkhead(MOST_OF_NAME.toStrangers) }),
    mayForget: ({ open }) => open.executionSlots === MOST_OF_NAME.open,
    isProtected: () => false,
  });
  const strangers = bulkhead(MOST_OPEN_TO_STRANGERS);
  let circuitsOpen = 0;

  function newCircuit(): Circuit {
    const { first: initialDelay, most: maxDelay } = PROBED_AFTER_MS;
    const policy = circuitBreaker(handleType(CallbackUnreachableError), {
      breaker: new ConsecutiveBreaker(MISSES_TO_OPEN),
      halfOpenAfter: new ExponentialBackoff({ initialDelay, maxDelay, generator: noJitterGenerator }),
    });
    const circuit: Circuit = { policy, openSinceMs: undefined };
    policy.onBreak(() => setOpen(circuit, systemClock.nowMs()));
    policy.onReset(() => setOpen(circuit, undefined));
    return circuit;
  }

  function setOpen(circuit: Circuit, sinceMs: number | undefined): void {
    if ((circuit.openSinceMs === undefined) === (sinceMs === undefined)) return;
    circuit.openSinceMs = sinceMs;
    circuitsOpen += sinceMs === undefined ? -1 : 1;
    circuitsChanged(circuitsOpen);
  }

  return {
    async attempt({ owner, receiver, origin }, attempt) {
      const ofName = names.recall(owner);
      const place = places.recall(keyOf(owner, receiver));
      const { policy } = circuits.recall(keyOf(owner, origin));
      // The library would let the others wait, each in a slot, for the result of the trial attempt.
      if (policy.state === CircuitState.HalfOpen) throw new HeldBackError('circuit');
      const startedMs = monotonicMs();
      const inPlace = () => place.bulkhead.execute(() => policy.execute(attempt));
      try {
        const asStranger = () => ofName.toStrangers.execute(() => strangers.execute(inPlace));
        const answer = await ofName.open.execute(place.isPrompt ? inPlace : asStranger);
        place.isPrompt = monotonicMs() - startedMs <= PROMPT_MS;
        return answer;
      } catch (error) {
        if (error instanceof BulkheadRejectedError) throw new HeldBackError('busy');
        if (error instanceof BrokenCircuitError) throw new HeldBackError('circuit');
        place.isPrompt = false;
        throw error;
      }
    },
    openSinceMs: ({ owner, origin }) => circuits.known(keyOf(owner, origin))?.openSinceMs,
  };
}

const keyOf = (owner: string, of: string): string => `${owner} ${of}`;

/** A bounded map: the entry that was unused for the longest goes first, protected entries last. */
function createMemory<T>(of: {
  readonly make: () => T;
  readonly mayForget: (one: T) => boolean;
  readonly isProtected: (one: T) => boolean;
  readonly forget?: (one: T) => void;
}) {
  const byName = new Map<string, T>();
  const forgetOne = (): void => {
    const idle = [...byName].filter(([, one]) => of.mayForget(one));
    const gone = idle.find(([, one]) => !of.isProtected(one)) ?? idle[0];
    if (gone === undefined) return;
    byName.delete(gone[0]);
    of.forget?.(gone[1]);
  };
  return {
    known: (name: string): T | undefined => byName.get(name),
    recall(name: string): T {
      const one = byName.get(name) ?? of.make();
      byName.delete(name);
      if (byName.size >= MOST_REMEMBERED) forgetOne();
      byName.set(name, one);
      return one;
    },
  };
}
