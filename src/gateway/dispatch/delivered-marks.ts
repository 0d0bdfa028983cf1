import type { Logger } from 'pino';
import { systemClock, type Clock } from '../../clock.js';
import type { InboxStore } from '../../store/inbox.js';
import { errorForLog } from '../http/refusal.js';

/**
 * Marks signalled rows as delivered, a moment later and together with rows that were signalled meanwhile, in one
 * transaction. At that moment the flow acts on the signal, and this machine's work is better spent on that.
 */
export interface DeliveredMarks {
  /**
   * @param ids events of this flow
   * @param restMs until the flow may be signalled again; without a rest its lease ends at once
   * @param marked called when that is on disk, with how long the flow rests from then on at most, ms
   */
  add(flowId: string, ids: readonly string[], restMs: number, marked: (restMs: number) => void): void;
  /** Resolves when nothing is left to write. */
  finish(): Promise<void>;
}

/** Less than the shortest rest of a flow: no event waits for the end of its lease. */
const TOGETHER_MS = 150;

interface Mark {
  readonly flowId: string;
  readonly ids: readonly string[];
  readonly restUntilMs: number;
  readonly marked: (restMs: number) => void;
}

export function createDeliveredMarks(deps: {
  /** @default the system's */
  readonly clock?: Clock;
  readonly inbox: Pick<InboxStore, 'markDelivered'>;
  readonly logger: Logger;
}): DeliveredMarks {
  const clock = deps.clock ?? systemClock;
  const writing = new Set<Promise<void>>();
  let waiting: Mark[] = [];
  let stopTimer: (() => void) | undefined;

  /** If it fails, the lease runs out and the events are sent again; the flow takes each of them once. */
  async function write({ flowId, ids, restUntilMs, marked }: Mark): Promise<void> {
    try {
      const restMs = Math.max(0, Math.ceil(restUntilMs - clock.monotonicMs()));
      // The store counts from the moment in which it writes: a read by our earlier timestamp could come too soon, and
      // find nothing.
      await deps.inbox.markDelivered(flowId, ids, restMs);
      marked(restMs);
    } catch (error) {
      deps.logger.warn({ events: ids, error: errorForLog(error) }, 'delivered events could not be marked as such');
    }
  }

  function flush(): void {
    stopTimer?.();
    stopTimer = undefined;
    const marks = waiting;
    waiting = [];
    // Writes that start at the same moment share a transaction.
    for (const mark of marks) {
      const written = write(mark).finally(() => writing.delete(written));
      writing.add(written);
    }
  }

  return {
    add(flowId, ids, restMs, marked) {
      waiting.push({ flowId, ids, restUntilMs: clock.monotonicMs() + restMs, marked });
      if (restMs < TOGETHER_MS) flush();
      else stopTimer ??= clock.after(TOGETHER_MS, flush);
    },
    async finish() {
      flush();
      await Promise.all(writing);
    },
  };
}
