import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from '@jest/globals';
import { parseSync } from 'oxc-parser';
import { changesOf, mutatedFiles, weave } from '../mutants/operators.js';

const root = new URL('../..', import.meta.url).pathname;

describe('a mutant of the sample of npm run mutants', () => {
  const changed = (text: string) =>
    changesOf('a.ts', text).map(({ was, becomes }) => `${was} → ${becomes ?? '(removed)'}`);

  it('changes a condition, an operator, a result, a statement, a text or a list', () => {
    expect(changed("if (a < 1) send('x'); else keep(['y']);")).toEqual([
      'a < 1 → true',
      'a < 1 → false',
      'a < 1 → (a) <= (1)',
      'a < 1 → (a) >= (1)',
      "send('x'); → (removed)",
      "'x' → ''",
      "keep(['y']); → (removed)",
      "['y'] → []",
      "'y' → ''",
    ]);
    expect(changed('const f = (a?: A) => !a && (b ?? c);')).toEqual([
      '!a && (b ?? c) → undefined',
      '!a && (b ?? c) → (!a) || (b ?? c)',
      '!a → a',
      'b ?? c → (b) && (c)',
    ]);
  });

  it('changes a condition of SQL, and no sentence, type or name', () => {
    expect(changed("const sql = `a = ? AND b <> 'x' AND NOT ${C}`;")).toEqual(
      ['`a = ? AND NOT ${C}`', "`a = ? AND b <> 'x'`", "`a = ? AND b = 'x' AND NOT ${C}`", "''"].map(
        (becomes) => `\`a = ? AND b <> 'x' AND NOT \${C}\` → ${becomes}`,
      ),
    );
    expect(
      changed("import x from 'y'; const z: 'a' = { 'b': new E1Error('c'), d: 'it is not sent' }; log('e');"),
    ).toEqual([]);
  });

  it('has an effect only while its number is switched on', () => {
    const text = 'function f(a, b, seen) { if (a < b) seen.push(a); return seen.length > 0 && b; }';
    const mutants = changesOf('a.ts', text).map((change, id) => ({ ...change, id }));
    // A context of its own: once a workflow has run in this process, the SDK has frozen the class that holds the switch.
    const run = (on: number): unknown =>
      runInNewContext(`${weave(text, mutants)} f(1, 1, [])`, { TextEncoder: { mutant: (id: number) => id === on } });
    expect([-1, ...mutants.keys()].map(run)).toEqual([false, 1, false, 1, 1, false, undefined, 1, 1, 1]);
  });

  it('leaves each mutated file of the product readable, with all other mutants in it', () => {
    for (const file of mutatedFiles()) {
      const text = readFileSync(join(root, file), 'utf8');
      const mutants = changesOf(file, text).map((change, id) => ({ ...change, id }));
      expect({ file, errors: parseSync(file, weave(text, mutants)).errors }).toEqual({ file, errors: [] });
    }
  });
});
