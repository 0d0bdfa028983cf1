import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { NAMED } from '../mutants/named.js';

const root = new URL('../..', import.meta.url).pathname;

describe('a bug that npm run mutants plants', () => {
  it.each(NAMED)('fits the code as it is, and has its tests: $name', ({ file, find, replace, tests }) => {
    expect(readFileSync(join(root, file), 'utf8').split(find)).toHaveLength(2);
    expect(replace).not.toBe(find);
    expect(tests.filter((test) => !existsSync(join(root, test)))).toEqual([]);
  });
});
