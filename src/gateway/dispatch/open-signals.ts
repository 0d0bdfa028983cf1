import { growingPauseMs } from '../../clock.js';

/** A larger signal would be a large history event. A flow takes 10,001 events in 201 signals. */
export const EVENTS_PER_SIGNAL = 50;

/** How long the dispatcher and the settler wait. One file, so that the figures can be compared. */

/** The flow has a signal that it has not seen: events that come meanwhile are sent with the next one. */
export const untilSignalSeen = (deferrals: number): number => growingPauseMs(50, 5_000, deferrals);

/** Temporal cannot be reached: short, so that a backlog drains soon after. */
export const untilTemporalAnswers = (failures: number): number => growingPauseMs(250, 4_000, failures);

/** A flow that cannot yet say the state of its events. */
export const untilNextLook = (looks: number): number => growingPauseMs(2_000, 60_000, looks);

/** An event that cannot be decrypted: a gateway that gets its key finds it soon. */
export const UNTIL_KEY_COMES_MS = 10_000;

/** Temporal answers, but refuses this one flow's signal. */
export const untilFlowHeals = (deferrals: number): number => growingPauseMs(1_000, 60_000, deferrals);

/**
 * Flows that were signalled and have not yet been seen to take the signal. The first signal to a quiet flow is sent at
 * once; before the next one, Temporal is asked whether the last one was taken. So a flow without a worker collects one
 * signal, and its events wait in the inbox and are merged into the next one. Memory only: losing it costs one signal
 * more.
 */
export interface OpenSignals {
  add(flowId: string): void;
  has(flowId: string): boolean;
  taken(flowId: string): void;
}

/** Flows that ended without taking their signal stay until newer ones displace them. */
const MOST = 100_000;

export function createOpenSignals(): OpenSignals {
  /** The oldest first. */
  const open = new Set<string>();
  return {
    add(flowId) {
      // Deleted first: a set keeps the position of the first insertion.
      open.delete(flowId);
      open.add(flowId);
      const [oldest] = open;
      if (open.size > MOST && oldest !== undefined) open.delete(oldest);
    },
    has: (flowId) => open.has(flowId),
    taken: (flowId) => void open.delete(flowId),
  };
}
