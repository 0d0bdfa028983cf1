import type { Logger } from 'pino';
import type { InboxBatch } from '../../store/inbox.js';
import type { InboxRow } from '../../protocol/events.js';

/** Flows all of whose events wait because one of them cannot be decrypted: its key is not here. */
export interface UnreadableFlows {
  /**
   * The rows of this batch that cannot be decrypted any more: damaged ones at once, those of a missing key after an
   * hour. Until then their flow waits, which is logged once for each flow.
   */
  examine(batch: Pick<InboxBatch, 'flowId' | 'rows'>): 'key may come' | readonly InboxRow[];
  /** How many wait now. */
  count(): number;
}

/** Checked every ten seconds: one that was not checked for this long was delivered by a gateway that has the key. */
const HELD_FOR_MS = 60_000;
/** Long enough to give a gateway a forgotten key; the flow's deadline, or a person, must not wait for ever. */
const KEY_COMES_WITHIN_MS = 3_600_000;
/** More lines of the log could not be read. */
const MOST_NAMED = 10_000;

/** In the memory of this gateway: another one may have the key. */
export function createUnreadableFlows(logger: Logger, nowMs: () => number): UnreadableFlows {
  const held = new Map<string, { readonly sinceMs: number; readonly seenMs: number }>();
  return {
    examine({ flowId, rows }) {
      const closed = rows.filter(({ unreadable }) => unreadable !== undefined);
      const broken = closed.filter(({ isBroken }) => isBroken);
      if (broken.length > 0) return broken;
      if (closed.length === 0) {
        held.delete(flowId);
        return [];
      }
      const now = nowMs();
      const sinceMs = held.get(flowId)?.sinceMs ?? now;
      if (now - sinceMs >= KEY_COMES_WITHIN_MS) {
        held.delete(flowId);
        return closed;
      }
      if (!held.has(flowId)) {
        if (held.size >= MOST_NAMED) held.clear();
        logger.error(
          { flowId, events: closed.map(({ id }) => id), why: closed[0]?.unreadable },
          'an event cannot be opened, and all events of its flow wait: give this gateway the key in PAYLOAD_KEYS',
        );
      }
      held.set(flowId, { sinceMs, seenMs: now });
      return 'key may come';
    },
    count: () => [...held.values()].filter(({ seenMs }) => nowMs() - seenMs < HELD_FOR_MS).length,
  };
}
