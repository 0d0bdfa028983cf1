import type { Logger } from 'pino';
import { systemClock, type Clock } from '../../clock.js';
import type { InboxStore } from '../../store/inbox.js';
import { errorForLog } from '../http/refusal.js';

/**
 * Marks signalled rows as delivered, which ends the lease of their flow: a moment later and together with rows that were
 * signalled meanwhile, in one transaction. At that moment the flow acts on the signal, and this machine's work is better
 * spent on that. Never later than something that came after them: it may be for the same flow.
 */
export interface DeliveredMarks {
  /**
   * @param ids events of this flow
   * @param marked called when that is on disk
   */
  add(flowId: string, ids: readonly string[], marked: () => void): void;
  /** Begins to write all of them now. */
  flush(): void;
  /** Resolves when nothing is left to write. */
  finish(): Promise<void>;
}

const TOGETHER_MS = 150;

interface Mark {
  readonly flowId: string;
  readonly ids: readonly string[];
  readonly marked: () => void;
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
  async function write({ flowId, ids, marked }: Mark): Promise<void> {
    try {
      await deps.inbox.markDelivered(flowId, ids);
      marked();
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
    add(flowId, ids, marked) {
      waiting.push({ flowId, ids, marked });
      stopTimer ??= clock.after(TOGETHER_MS, flush);
    },
    flush,
    async finish() {
      flush();
      await Promise.all(writing);
    },
  };
}
