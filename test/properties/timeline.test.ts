import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import type { FlowView, TimelineEntry } from '../../src/api/flow.js';
import { PARK_SENTENCES } from '../../src/protocol/vocabulary.js';
import { MAX_TIMELINE } from '../../workflows/engine/policies.js';
import { currentDetails, withEntry } from '../../workflows/engine/timeline.js';

const entry = (index: number): TimelineEntry => ({
  at: '',
  stage: '',
  by: 'flow',
  code: 'sending',
  detail: String(index),
});
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

describe('what the Temporal UI shows of a flow', () => {
  const timeline = Array.from({ length: 14 }, (_, index): TimelineEntry => {
    const at = `2026-01-31T12:30:${index + 10}.123Z`;
    return { at, stage: 'tracking', by: 'service', code: 'event-applied', detail: `step ${index}` };
  });
  const running: FlowView = {
    kind: 'onramp',
    reference: 'r-1',
    flowId: 'onramp/r-1',
    state: 'running',
    stage: 'tracking',
    serviceReference: 'S-7',
    terms: null,
    startedAt: '',
    updatedAt: '',
    deadlineAt: '2026-02-01T00:00:00.000Z',
    parked: null,
    outcome: null,
    timeline,
  };
  const shown = (view: Partial<FlowView>) => currentDetails({ ...running, ...view }).split('\n\n');
  const latest = Array.from(
    { length: 12 },
    (_, index) => `- 01-31 12:30:${index + 12} · tracking · event-applied`,
  ).join('\n');

  it('while it runs: its state, its deadline, and the latest twelve steps', () => {
    expect(shown({})).toEqual([
      '**onramp** `r-1` is **running** (tracking)',
      'Deadline: 2026-02-01T00:00:00.000Z',
      latest,
    ]);
    expect(shown({ deadlineAt: null }).slice(1, -1)).toEqual(['Deadline: none']);
  });

  const parked: FlowView['parked'] = {
    reason: 'no_settlement',
    since: '2026-01-31T13:00:00.000Z',
    actions: ['keep-waiting', 'mark-failed'],
    evidence: { words: ['PENDING'] },
  };
  it('while it is parked: why, since when, and what may be ordered', () => {
    expect(shown({ state: 'parked', parked }).slice(1)).toEqual([
      `**${PARK_SENTENCES.no_settlement}** (\`no_settlement\`, since 2026-01-31T13:00:00.000Z)`,
      'A person decides: `keep-waiting`, `mark-failed`',
      latest,
    ]);
  });

  it('once it has ended: how, and for which reason', () => {
    const failed: FlowView['outcome'] = { state: 'failed', reason: 'failed_at_service', detail: 'It failed.' };
    expect(shown({ state: 'failed', outcome: failed })[1]).toBe('`failed_at_service`');
    const completed: FlowView['outcome'] = { state: 'completed', reason: null, detail: 'It was paid.' };
    expect(shown({ state: 'completed', outcome: completed }).slice(1)).toEqual([latest]);
  });

  it('is nothing that others wrote: no note, name, word, evidence or reference of theirs', () => {
    const theirs = '\n\n# [theirs](https://evil.example)`<b>';
    const step = { at: '2026-01-31T12:30:10.123Z', stage: 'tracking', code: 'event-applied' } as const;
    const details = currentDetails({
      ...running,
      reference: theirs,
      serviceReference: theirs,
      outcome: { state: 'failed', reason: 'failed_at_service', detail: theirs },
      parked: { ...parked, evidence: { [theirs]: theirs } },
      timeline: [{ ...step, by: theirs, detail: theirs }],
    });
    expect(details).not.toMatch(/[[\]<#]|evil\.example.*evil\.example/s);
    expect(details.split('\n\n')[0]).toBe(
      `**onramp** \`${theirs.replaceAll(/[^A-Za-z0-9._:/-]/g, '?')}\` is **running** (tracking)`,
    );
  });
});
