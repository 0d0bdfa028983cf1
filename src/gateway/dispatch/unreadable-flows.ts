import type { Logger } from 'pino';
import type { InboxBatch } from '../../store/inbox.js';

/** Flows whose events wait, all of them, since one of them cannot be opened: it was sealed with a key that is not here. */
export interface UnreadableFlows {
  /** Whether this batch has such an event. Said in the log, once for each flow. */
  holdBack(batch: InboxBatch): boolean;
  /** How many are held back now. */
  count(): number;
}

/** They are looked at every ten seconds: one that was not for so long was delivered by a gateway that has the key. */
const HELD_FOR_MS = 60_000;
/** More lines of the log could not be read. */
const MOST_NAMED = 10_000;

/** In the memory of this gateway: another one may have the key. */
export function createUnreadableFlows(logger: Logger, nowMs: () => number): UnreadableFlows {
  const seenAt = new Map<string, number>();
  return {
    holdBack({ flowId, rows }) {
      const closed = rows.filter(({ unreadable }) => unreadable !== undefined);
      if (closed.length === 0) {
        seenAt.delete(flowId);
        return false;
      }
      if (!seenAt.has(flowId)) {
        if (seenAt.size >= MOST_NAMED) seenAt.clear();
        logger.error(
          { flowId, events: closed.map(({ id }) => id), why: closed[0]?.unreadable },
          'an event cannot be opened, and all events of its flow wait: give this gateway the key in PAYLOAD_KEYS',
        );
      }
      seenAt.set(flowId, nowMs());
      return true;
    },
    count: () => [...seenAt.values()].filter((at) => nowMs() - at < HELD_FOR_MS).length,
  };
}
