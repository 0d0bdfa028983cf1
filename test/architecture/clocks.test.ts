import { describe, expect, it } from '@jest/globals';
import { clockReads } from './clocks.js';
import { shippedSources } from './sources.js';

describe('the rule that only a clock.ts reads the machine’s clock', () => {
  it('holds for src and activities; in a workflow, Temporal keeps the time', () => {
    const sources = shippedSources().filter(({ path }) => !path.startsWith('workflows/'));
    expect(sources.length).toBeGreaterThan(200);
    expect(sources.flatMap(clockReads)).toEqual([]);
  });

  it.each(['const at = Date.now();', 'const now = given ?? Date.now;', 'new Date().toISOString();', 'Date();'])(
    'finds %j',
    (text) => {
      expect(clockReads({ path: 'src/x.ts', text })).toHaveLength(1);
    },
  );

  it.each([
    ['src/x.ts', 'new Date(atMs).toISOString(); Date.parse(text); clock.now();'],
    ['src/sandbox/clock.ts', 'export const systemNow = () => Date.now();'],
  ])('lets %s pass with %j', (path, text) => {
    expect(clockReads({ path, text })).toEqual([]);
  });
});
