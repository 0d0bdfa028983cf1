import { untilNextSignal } from './delays.js';

/**
 * How soon one flow is signalled again. The first signal to a quiet flow goes out at once. While events keep coming, each
 * next one waits longer, up to a second, and takes what came meanwhile along: however many events a sender posts, they
 * cost a flow a signal a second, and not a signal each. Memory only: forgetting costs one signal more.
 */
export interface SignalPace {
  /** A signal went out; returns for how many milliseconds there is none to this flow. */
  signalled(flowId: string): number;
  /** Whole milliseconds until the next signal may go out; 0: now. */
  restMs(flowId: string): number;
}

/** A signal of more would be a large history event. A flow takes 10,001 events in 201 signals, and these do not rest. */
export const EVENTS_PER_SIGNAL = 50;

/** A flow without a signal for so long is a quiet one. */
const QUIET_AFTER_MS = 2_000;

interface Paced {
  readonly nextAt: number;
  readonly quietAt: number;
  readonly inARow: number;
}

export function createSignalPace(nowMs: () => number): SignalPace {
  /** In the order of their last signals. */
  const paced = new Map<string, Paced>();
  const forgetQuiet = (now: number): void => {
    for (const [flowId, { quietAt }] of paced) {
      if (quietAt > now) return;
      paced.delete(flowId);
    }
  };
  return {
    signalled(flowId) {
      const now = nowMs();
      forgetQuiet(now);
      const inARow = paced.get(flowId)?.inARow ?? 0;
      const restMs = untilNextSignal(inARow);
      // Deleted first: a map keeps the place of the first insertion.
      paced.delete(flowId);
      paced.set(flowId, { nextAt: now + restMs, quietAt: now + QUIET_AFTER_MS, inARow: inARow + 1 });
      return restMs;
    },
    restMs: (flowId) => Math.max(0, Math.ceil((paced.get(flowId)?.nextAt ?? 0) - nowMs())),
  };
}
