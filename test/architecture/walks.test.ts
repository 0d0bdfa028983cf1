import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { importsOf } from './imports-of.js';
import { shippedSources } from './sources.js';

const MOST_FILES = 15;
/**
 * How the next file is reached if no earlier one imports it: by Temporal, or by a function that start-gateway.ts
 * passes.
 */
const HANDED_OVER = /^(by|from) /;

/** The two lists of CONTRIBUTING.md: `1. path: what happens there`, under their headings. */
function walkOf(heading: string): readonly { readonly path: string; readonly says: string }[] {
  const text = readFileSync('CONTRIBUTING.md', 'utf8');
  const section = text.slice(text.indexOf(heading)).split('\n## ')[0]?.split('\n### ')[0] ?? '';
  return [...section.matchAll(/^\d+\. `([^`]+)`: (.+)$/gm)].map(([, path = '', says = '']) => ({ path, says }));
}

describe.each(['### A reference, from the proxy to the service', '### A webhook, to its signal'])(
  'the walk %s',
  (heading) => {
    const walk = walkOf(heading);
    const sources = shippedSources();

    it('goes through few files, and through none twice', () => {
      expect(walk.length).toBeGreaterThan(5);
      expect(walk.length).toBeLessThanOrEqual(MOST_FILES);
      expect(new Set(walk.map(({ path }) => path)).size).toBe(walk.length);
    });

    it('is the one that the code goes: an earlier file imports each, or the one before hands over to it as it says', () => {
      const lost = walk.slice(1).filter(({ path }, index) => {
        const earlier = walk.slice(0, index + 1);
        const isImported = earlier.some((one) =>
          importsOf(sources.find((source) => source.path === one.path) ?? { path: '', text: '' }).some(
            ({ to }) => to === path,
          ),
        );
        const isThere = sources.some((source) => source.path === path);
        return !isThere || !(isImported || HANDED_OVER.test(earlier.at(-1)?.says.split('; ').at(-1) ?? ''));
      });
      expect(lost.map(({ path }) => path)).toEqual([]);
    });
  },
);
