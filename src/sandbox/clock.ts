import type { KeyValue } from './database.js';

interface ClockState {
  readonly frozenAt: number | null;
  readonly offsetMs: number;
}

/** The sandbox's own time: every lifecycle, quote and expiry uses it. It never goes back, except by a reset. */
export interface Clock {
  now(): number;
  iso(at?: number): string;
  readonly frozen: boolean;
  freeze(): void;
  /** Time continues from where it stopped. */
  unfreeze(): void;
  /** Moves frozen time to `at`, if that is later. */
  reach(at: number): void;
  /** Keeps the clock's state for the next start; inside `database.write`. */
  keep(): void;
  /** Back to the wall clock, after a reset. */
  reset(): void;
}

/** Milliseconds since 1970, by the machine. */
export const systemNow = (): number => Date.now();

export function createClock(deps: { notes: KeyValue; wallNow: () => number }): Clock {
  const running: ClockState = { frozenAt: null, offsetMs: 0 };
  let state = deps.notes.read<ClockState>('clock', running);
  const now = () => state.frozenAt ?? deps.wallNow() + state.offsetMs;
  return {
    now,
    iso: (at = now()) => new Date(at).toISOString(),
    get frozen() {
      return state.frozenAt !== null;
    },
    freeze() {
      state = { ...state, frozenAt: now() };
    },
    unfreeze() {
      state = { frozenAt: null, offsetMs: now() - deps.wallNow() };
    },
    reach(at) {
      if (state.frozenAt === null) throw new Error('only frozen time can be moved');
      state = { ...state, frozenAt: Math.max(state.frozenAt, at) };
    },
    keep: () => deps.notes.write('clock', state),
    reset() {
      state = running;
    },
  };
}
