import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { packageRoot } from '../../src/package-root.js';
import { BUGS } from '../chaos/self-test/bugs.js';
import { trialNames } from '../chaos/self-test/trials.js';

describe('a bug that npm run chaos -- --self-test plants', () => {
  it.each(BUGS)('fits the code as it is: $name', ({ edits }) => {
    for (const { file, find, replace } of edits) {
      expect(readFileSync(join(packageRoot(), file), 'utf8').split(find)).toHaveLength(2);
      expect(replace).not.toBe(find);
    }
  });

  it('has a trial of its own, and each trial a bug', () => {
    expect([...new Set(BUGS.map(({ trial }) => trial))].toSorted()).toEqual(trialNames.toSorted());
  });
});
