import { beforeAll, describe, expect, test } from '@jest/globals';
import { inTurns } from '../faults/in-turns.js';
import { KINDS_AT_PLAY, SIGNED, startOne, subscribe, whenDone } from './kinds-at-play.js';
import { byState } from './reconcile.js';
import { withStack, type Stack } from './stack.js';

/** Of each kind. */
const COMPLETING = 6;
const FAILING = 2;
const SCALE = { timeScale: 0.02 };
/** Of our time: ten seconds, after which only a lost event can be why nothing was heard. */
const DEADLINE = { deadlineSeconds: 500 };

describe('a mixed load of all kinds, with an adversary between the service and us', () => {
  let stack: Stack;
  withStack({ ...SIGNED, serviceTimeoutMs: 30_000 }, (opened) => (stack = opened));
  beforeAll(async () => {
    await subscribe(stack);
    await stack.control('POST', '/adversary', {
      duplicate: 0.3,
      reorder: 0.3,
      delay: 0.2,
      delayMs: 400,
      dropFirst: 0.2,
      drop: 0.1,
      early: 0.3,
    });
  });

  test('72 flows, webhooks doubled, reordered, delayed, early and lost: every one ends as it must, I1 to I8 exact', async () => {
    const plays = Array.from({ length: COMPLETING + FAILING }, (_, turn) =>
      KINDS_AT_PLAY.map((kind) => ({ kind, fails: turn >= COMPLETING })),
    ).flat();
    const ends = await inTurns(plays, 12, async ({ kind, fails }) => {
      const ending = fails ? { ending: kind.failing.ending } : {};
      const more = { ...SCALE, ...(kind.hasLookup ? {} : DEADLINE) };
      const reference = await startOne(stack, kind, { ...ending, more });
      const { state, parked } = await whenDone(stack, kind.kind, reference);
      return { kind, fails, state, reason: parked?.reason as string | undefined };
    });
    const wrong = ends.filter(({ kind, fails, state, reason }) => {
      const isLost = !kind.hasLookup && state === 'parked' && reason === 'no_settlement';
      return state !== (fails ? kind.failing.state : 'completed') && !isLost;
    });
    expect(wrong.map(({ kind, ...end }) => ({ kind: kind.kind, ...end }))).toEqual([]);

    // The adversary did what it promised, and nobody paid for it. It goes by chance: these are far below its averages.
    const { deliveries } = await stack.control('GET', '/deliveries');
    const notes = (deliveries as { note: string; state: string }[]).map(({ note, state }) => `${note} ${state}`);
    expect(notes.filter((note) => note === 'duplicate delivered').length).toBeGreaterThan(20);
    expect(notes.filter((note) => note === 'genuine dropped').length).toBeGreaterThan(3);
    const { flows, answered, inbox, executions } = await stack.reconcile();
    expect(flows).toHaveLength(72);
    expect(Object.keys(byState({ flows })).toSorted()).toEqual(
      expect.arrayContaining(['completed', 'failed', 'refunded']),
    );
    expect(inbox.reduce((sum, { repeats }) => sum + 1 + repeats, 0)).toBe(answered);
    // One for each flow; two where an invoice is generated and paid, none where a check only watches.
    expect(executions).toHaveLength(72);
  }, 240_000);
});
