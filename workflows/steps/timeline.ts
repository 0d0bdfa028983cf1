import type { TimelineEntry } from '../../src/flows/messages.js';
import { MAX_TIMELINE } from './policies.js';

/** Adds an entry; past the limit the middle goes, since the beginning and the latest tell most. */
export function withEntry(timeline: readonly TimelineEntry[], entry: TimelineEntry): readonly TimelineEntry[] {
  const next = [...timeline, entry];
  if (next.length <= MAX_TIMELINE) return next;
  const head = next.slice(0, MAX_TIMELINE / 2);
  return [...head, ...next.slice(head.length + 1)];
}
