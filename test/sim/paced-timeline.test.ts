import { describe, expect, it } from '@jest/globals';
import { createPacedTimeline } from '../harness/virtual/paced-timeline.js';

const HOUR_MS = 3_600_000;

describe('the time of a test that may be skipped', () => {
  it('runs due entries one after the other, even if it plans more while it runs', async () => {
    const timeline = createPacedTimeline((error) => expect(error).toBeUndefined());
    const done: string[] = [];
    timeline.in(0, async () => {
      done.push('begun');
      timeline.in(0, () => done.push('planned meanwhile'));
      timeline.in(HOUR_MS, () => done.push('an hour later'));
      for (let turns = 0; turns < 20; turns += 1) await new Promise(setImmediate);
      done.push('done');
    });
    await timeline.pass(2 * HOUR_MS);
    expect(done).toEqual(['begun', 'done', 'planned meanwhile', 'an hour later']);
    await timeline.close();
  });

  it('does not pass while something is busy', async () => {
    const timeline = createPacedTimeline((error) => expect(error).toBeUndefined());
    const done: string[] = [];
    timeline.in(HOUR_MS, () => done.push('an hour later'));
    const work = timeline.whileBusy(async () => {
      for (let turns = 0; turns < 20; turns += 1) await new Promise(setImmediate);
      done.push('done');
    });
    await timeline.pass(2 * HOUR_MS);
    await work;
    expect(done).toEqual(['done', 'an hour later']);
    await timeline.close();
  });

  it('leaps over nothing that is under way, and says what that is', async () => {
    const broken: unknown[] = [];
    const timeline = createPacedTimeline(
      (error) => broken.push(error),
      () => ['a task'],
    );
    timeline.in(HOUR_MS, () => undefined);
    const never = timeline.pass(HOUR_MS);
    for (let turns = 0; turns < 20; turns += 1) await new Promise(setImmediate);
    expect(String(broken[0])).toMatch(/leap \d+\.?\d* ms over a task/);
    await timeline.close();
    void never;
  });
});
