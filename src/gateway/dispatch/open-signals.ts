/**
 * Flows that were signalled and have not been seen to take it. The first signal to a quiet flow goes out at once; before
 * the next one, Temporal is asked whether the first was taken. So a flow without a worker collects one signal, and its
 * events wait in the inbox. Memory only: forgetting costs one signal more.
 */
export interface OpenSignals {
  add(flowId: string): void;
  has(flowId: string): boolean;
  taken(flowId: string): void;
}

/** An old entry: whatever the flow does, one signal in that time is no burden. */
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
      // Deleted first: a map keeps the place of the first insertion.
      signalledAt.delete(flowId);
      signalledAt.set(flowId, nowMs());
      forgetOldest();
    },
    has: (flowId) => signalledAt.has(flowId),
    taken: (flowId) => void signalledAt.delete(flowId),
  };
}
