import { describe, expect, it } from 'vitest';
import * as fc from 'fast-check';
import type { TimelineEntry } from '../../src/protocol/messages.js';
import { MAX_TIMELINE } from '../../workflows/engine/policies.js';
import { withEntry } from '../../workflows/engine/timeline.js';

const entry = (index: number): TimelineEntry => ({ at: '', stage: '', by: 'flow', detail: String(index) });
const written = (count: number) =>
  Array.from({ length: count }, (_, index) => entry(index)).reduce<readonly TimelineEntry[]>(withEntry, []);
const numbers = (timeline: readonly TimelineEntry[]) => timeline.map(({ detail }) => Number(detail));

describe('the timeline', () => {
  it('keeps everything, in order, up to its limit', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: MAX_TIMELINE }), (count) => {
        expect(numbers(written(count))).toEqual([...Array(count).keys()]);
      }),
    );
  });

  it('past its limit keeps the beginning and the latest, in order, and never grows', () => {
    fc.assert(
      fc.property(fc.integer({ min: MAX_TIMELINE + 1, max: 2_000 }), (count) => {
        const kept = numbers(written(count));
        const half = MAX_TIMELINE / 2;
        expect(kept).toHaveLength(MAX_TIMELINE);
        expect(kept.slice(0, half)).toEqual([...Array(half).keys()]);
        expect(kept.slice(half)).toEqual([...Array(half).keys()].map((index) => count - half + index));
      }),
      { numRuns: 50 },
    );
  });

  it('changes no list that it was given', () => {
    const before = written(MAX_TIMELINE);
    const copy = [...before];
    withEntry(before, entry(999));
    expect(before).toEqual(copy);
  });
});
