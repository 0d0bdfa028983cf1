/**
 * How soon one flow is signalled again. The first signal to a quiet flow is sent at once. While events keep coming,
 * each further signal waits longer, up to a second, and includes what came meanwhile: however many events a sender
 * posts, a flow gets at most about one signal a second. Memory only: losing it costs one signal more.
 */
export interface SignalPace {
  /** A signal was sent; returns for how many milliseconds there is none to this flow. */
  signalled(flowId: string): number;
  /** Whole milliseconds until the next signal may go out; 0: now. */
  restMs(flowId: string): number;
}

/** A larger signal would be a large history event. A flow takes 10,001 events in 201 signals, which do not wait. */
export const EVENTS_PER_SIGNAL = 50;

/** A flow without a signal for this long counts as quiet. */
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
      // Deleted first: a map keeps the position of the first insertion.
      paced.delete(flowId);
      paced.set(flowId, { nextAt: now + restMs, quietAt: now + QUIET_AFTER_MS, inARow: inARow + 1 });
      return restMs;
    },
    restMs: (flowId) => Math.max(0, Math.ceil((paced.get(flowId)?.nextAt ?? 0) - nowMs())),
  };
}

/** How long the dispatcher and the settler wait. One file, so that the figures can be compared. */

const doubled = (firstMs: number, times: number, mostMs: number): number =>
  Math.min(mostMs, firstMs * 2 ** Math.min(times, 20));

/** The flow is not there (yet). The start of one through the gateway releases its events; others find them in time. */
export const untilFlowExists = (deferrals: number, isOurs: boolean): number =>
  // Anyone can post settlements for flows that will never exist; those must not cost a call a minute for ever.
  doubled(1_000, deferrals, isOurs ? 60_000 : 600_000);

/** The flow has a signal that it has not seen: events that come meanwhile are sent with the next one. */
export const untilSignalSeen = (deferrals: number): number => doubled(50, deferrals, 5_000);

/** A flow with frequent events: they are merged, the more of them the longer they keep coming. */
const untilNextSignal = (inARow: number): number => doubled(250, inARow, 1_000);

/** Temporal cannot be reached: short, so that a backlog drains soon after. */
export const untilTemporalAnswers = (failures: number): number => doubled(250, failures, 4_000);

/** A flow that cannot yet say the state of its events. */
export const untilNextLook = (looks: number): number => doubled(2_000, looks, 60_000);

/** An event that cannot be decrypted: a gateway that gets its key finds it soon. */
export const UNTIL_KEY_COMES_MS = 10_000;

/** Temporal answers, but refuses this one flow's signal. */
export const untilFlowHeals = (deferrals: number): number => doubled(1_000, deferrals, 60_000);

/**
 * Flows that were signalled and have not yet been seen to take the signal. The first signal to a quiet flow is sent at
 * once; before the next one, Temporal is asked whether the first was taken. So a flow without a worker collects one
 * signal, and its events wait in the inbox. Memory only: losing it costs one signal more.
 */
export interface OpenSignals {
  add(flowId: string): void;
  has(flowId: string): boolean;
  taken(flowId: string): void;
}

/** An old entry is dropped: one signal in this time is no burden, whatever the flow does. */
const FORGET_AFTER_MS = 600_000;
const MOST = 100_000;

export function createOpenSignals(nowMs: () => number): OpenSignals {
  const signalledAt = new Map<string, number>();
  const forgetOldest = (): void => {
    for (const [flowId, at] of signalledAt) {
      if (signalledAt.size <= MOST && nowMs() - at < FORGET_AFTER_MS) return;
      signalledAt.delete(flowId);
    }
  };
  return {
    add(flowId) {
      // Deleted first: a map keeps the position of the first insertion.
      signalledAt.delete(flowId);
      signalledAt.set(flowId, nowMs());
      forgetOldest();
    },
    has: (flowId) => signalledAt.has(flowId),
    taken: (flowId) => void signalledAt.delete(flowId),
  };
}
