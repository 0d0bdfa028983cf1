import { pause, systemClock, type Clock } from '../../clock.js';
import type { FlowReader } from '../../temporal/flow-handle.js';
import type { Asker } from '../../temporal/questions.js';

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1_000;
/** Limits the queries to Temporal in all: above 200 watched flows, each is queried less often. */
const MOST_QUESTIONS_PER_SECOND = 200;

/** Flows that are waited for: one series of questions to Temporal for each, however many wait for it. */
export interface FlowWatch {
  /**
   * Resolves when the flow no longer runs (or does not exist), when `signal` is aborted, and when the gateway closes.
   * @throws if Temporal does not answer
   */
  untilStill(flowId: string, signal: AbortSignal): Promise<void>;
  /** The flow as JSON; simultaneous requests share one answer. */
  show: FlowReader['show'];
}

/** @param closing aborted when the gateway closes */
export function createFlowWatch(
  reader: Pick<FlowReader, 'facts' | 'show'>,
  closing: AbortSignal,
  clock: Clock = systemClock,
): FlowWatch {
  /** The waiters of each flow. */
  const watched = new Map<string, Set<() => void>>();
  // One listener for all of them: to add one takes as long as the signal has listeners.
  closing.addEventListener('abort', () => {
    for (const waiting of watched.values()) for (const release of waiting) release();
  });
  // A request while an answer is on its way shares that answer.
  const facts = shared((flowId: string) => reader.facts(flowId));
  const isRunning = async (flowId: string): Promise<boolean> => (await facts(flowId))?.state === 'running';

  async function watch(flowId: string, waiting: Set<() => void>): Promise<void> {
    let pauseMs = FIRST_PAUSE_MS;
    try {
      do {
        await pause(clock, Math.max(pauseMs, (watched.size / MOST_QUESTIONS_PER_SECOND) * 1_000));
        pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 1.5);
      } while (waiting.size > 0 && (await isRunning(flowId)));
    } catch {
      // Each waiter queries once more, and reports the error.
    } finally {
      watched.delete(flowId);
      for (const release of waiting) release();
    }
  }

  return {
    async untilStill(flowId, signal) {
      const isOver = () => signal.aborted || closing.aborted;
      // One that is watched was running a moment ago, and will be queried again soon.
      if (isOver() || (!watched.has(flowId) && !(await isRunning(flowId))) || isOver()) return;
      // Another one may have begun to watch it meanwhile.
      const waiting = watched.get(flowId) ?? new Set();
      if (!watched.has(flowId)) {
        watched.set(flowId, waiting);
        void watch(flowId, waiting);
      }
      await new Promise<void>((resolve) => {
        const release = () => {
          waiting.delete(release);
          signal.removeEventListener('abort', release);
          resolve();
        };
        waiting.add(release);
        signal.addEventListener('abort', release);
      });
    },

    show: shared((flowId: string, asker: Asker) => reader.show(flowId, asker)),
  };
}

/** At most one query at a time for each name; its answer goes to everyone who asks meanwhile. */
function shared<T, Rest extends unknown[]>(
  ask: (name: string, ...rest: Rest) => Promise<T>,
): (name: string, ...rest: Rest) => Promise<T> {
  const open = new Map<string, Promise<T>>();
  return (name, ...rest) => {
    const asked = open.get(name) ?? ask(name, ...rest).finally(() => open.delete(name));
    open.set(name, asked);
    return asked;
  };
}
