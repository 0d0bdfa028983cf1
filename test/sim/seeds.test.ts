import { describe, expect, test } from '@jest/globals';
import { FLOW_KINDS } from '../../src/protocol/vocabulary.js';
import { createTally, failureText } from './report.js';
import { simulate } from './simulate.js';
import { bundlePath, workflowsOf } from './workflows.js';

/** Seeds of one test: few, so that a machine that is busy with other things is no reason to fail. */
const AT_ONCE = 10;

const COUNT = 50;
const FAULTS = [
  'crash of a worker',
  'request lost-after',
  'completion lost',
  'completion twice',
  'delivery lost',
  'forged event',
  'wall clock set',
  // A commit of the store that is done, though it throws.
  'fails-after lease',
];

/** `npm run sim -- --seeds N` plays more. */
describe(`the simulation by its first ${COUNT} seeds`, () => {
  const vms = workflowsOf(bundlePath());
  const tally = createTally();

  test.each(Array.from({ length: COUNT / AT_ONCE }, (_, part) => 1 + part * AT_ONCE))(
    `breaks no promise by seed %d and the ${AT_ONCE - 1} after it`,
    async (from) => {
      for (let seed = from; seed < from + AT_ONCE; seed += 1) {
        const result = await simulate({ seed, vms });
        tally.add(result);
        if (result.violations.length > 0) throw new Error(failureText(result, `npm run sim -- --seed ${seed}`));
      }
    },
  );

  test('plays every kind, with each sort of fault', () => {
    expect(new Set([...tally.endings.keys()].map((ending) => ending.split(' ')[0])).size).toBe(FLOW_KINDS.length);
    for (const fault of FAULTS) expect([...tally.faults.keys()]).toContain(fault);
  });
});
