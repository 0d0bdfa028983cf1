import { describe, expect, test } from '@jest/globals';
import { createTally, failureText } from './report.js';
import { simulate } from './simulate.js';
import { workflowsOf } from './workflows.js';

/** The workflows that this run of the tests has bundled. */
export const bundlePath = (): string => process.env['TEST_WORKFLOW_BUNDLE'] ?? '';

/** Seeds of one test: few, so that a machine that is busy with other things is no reason to fail. */
const AT_ONCE = 10;

/** Plays these seeds; fails with the trace of the first that breaks a promise, and the command that replays it. */
export function describeSeeds(name: string, first: number, count: number): void {
  describe(name, () => {
    const vms = workflowsOf(bundlePath());
    const tally = createTally();

    test.each(Array.from({ length: count / AT_ONCE }, (_, part) => first + part * AT_ONCE))(
      `%d and the ${AT_ONCE - 1} after it break no promise`,
      async (from) => {
        for (let seed = from; seed < from + AT_ONCE; seed += 1) {
          const result = await simulate({ seed, vms });
          tally.add(result);
          if (result.violations.length > 0) throw new Error(failureText(result, `npm run sim -- --seed ${seed}`));
        }
      },
    );

    test('play every kind, and the faults that they are for really happen', () => {
      expect(new Set([...tally.endings.keys()].map((ending) => ending.split(' ')[0])).size).toBe(10);
      for (const fault of FAULTS) expect([...tally.faults.keys()]).toContain(fault);
    });
  });
}

const FAULTS = ['crash of a worker', 'request lost-after', 'completion lost', 'delivery lost', 'forged event'];
