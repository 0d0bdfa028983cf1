import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { simulationWith } from './planted.js';
import { PLANTS } from './plants.js';
import { simulate } from './simulate.js';
import { bundlePath, workflowsOf } from './workflows.js';

/** A change of the product shifts what a seed brings: the search begins at the seed that is written down. */
const WITHIN_RUNS = 40;

describe('a bug that is planted in the simulation', () => {
  const honest = workflowsOf(bundlePath());

  test.each(PLANTS)('is found by its invariant, and the same run passes without it: $story', async (bug) => {
    const { breaks, seed: first, plant: _plant, plants: _plants, ...rest } = bug;
    const planted = await simulationWith(bug, bundlePath());
    try {
      const found: number[] = [];
      for (let seed = first; seed < first + WITHIN_RUNS && found.length === 0; seed += 1) {
        const { violations } = await planted.simulate({ seed });
        if (violations.some(({ invariant }) => breaks.includes(invariant))) found.push(seed);
      }
      expect(found).toHaveLength(1);
      for (const seed of found) expect((await simulate({ ...rest, seed, vms: honest })).violations).toEqual([]);
    } finally {
      planted.close();
    }
  });
});

test('docs/testing.md lists the bugs that are planted in the simulation, with story, invariant and seed', () => {
  const document = readFileSync(new URL('../../docs/testing.md', import.meta.url), 'utf8');
  const rows = [...document.matchAll(/^\| `([\w-]+)` \| (.*) \| (.*) \| (.*) \| (\d+) \|$/gm)].map(
    ([, ...cells]) => cells,
  );
  const planted = PLANTS.map(({ name, story, listed, breaks, seed }) => [
    name,
    story,
    listed ?? '',
    breaks.join(', '),
    `${seed}`,
  ]);
  expect(rows).toEqual(planted);
});

test('two runs of the simulation by the same seed give the same trace, line for line', async () => {
  const vms = workflowsOf(bundlePath());
  const first = await simulate({ seed: 7, vms });
  await simulate({ seed: 8, vms });
  const again = await simulate({ seed: 7, vms });
  expect(again.lines).toEqual(first.lines);
  expect(again.lines.length).toBeGreaterThan(50);
});
