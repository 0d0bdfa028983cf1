import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { packageRoot } from '../../src/package-root.js';
import { BUGS } from '../chaos/self-test/bugs.js';
import { trialNames } from '../chaos/self-test/trials.js';
import { NAMED } from '../mutants/named.js';
import { PLANTS } from '../plants/index.js';
import { PLANTS as OF_SIMULATION } from '../sim/plants.js';

/** What a release brings, and what is reported: no bugs. */
const NO_BUGS = ['next-release', 'reports-pairs'];

describe('a planted bug', () => {
  it.each(PLANTS)('replaces what its modules export: $name', async ({ replaced }) => {
    for (const { module, exports } of replaced) {
      const honest = (await import(pathToFileURL(join(packageRoot(), module)).href)) as object;
      expect(Object.keys(honest)).toEqual(expect.arrayContaining(Object.keys(exports)));
    }
  });

  it('is looked for by the mutants, the simulation or the self-test of chaos, each that there is', () => {
    const planted = [...NAMED, ...OF_SIMULATION, ...BUGS].flatMap(({ plants }) => plants ?? []);
    expect([...new Set<string>([...planted, ...NO_BUGS])].toSorted()).toEqual(
      PLANTS.map(({ name }) => name).toSorted(),
    );
  });

  it.each(NAMED)('of npm run mutants has its tests: $name', ({ tests }) => {
    expect(tests.filter((test) => !existsSync(join(packageRoot(), test)))).toEqual([]);
  });

  it('of npm run chaos -- --self-test has a trial, and each trial a bug', () => {
    expect([...new Set(BUGS.map(({ trial }) => trial))].toSorted()).toEqual(trialNames.toSorted());
  });
});
