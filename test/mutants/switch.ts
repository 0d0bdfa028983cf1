// Switches the mutant of this run on, before a file of tests loads what it tests; in the dry run it records what is reached.
import { appendFileSync } from 'node:fs';
import { afterAll, afterEach, beforeEach, expect } from '@jest/globals';

type Switch = (id: number) => boolean;
const active = process.env['MUTANT'] ?? '';
const reachFile = process.env['MUTANT_REACH'];
/** By the full name of the test; what is reached outside of all tests is under no name. */
const reached = new Map<string, Set<number>>();
let test = '';
const place = TextEncoder as typeof TextEncoder & { mutant?: Switch };

function note(id: number): false {
  const ids = reached.get(test) ?? new Set();
  reached.set(test, ids.add(id));
  return false;
}

// A process that keeps its modules comes here for each file, and the workflows' sandbox has frozen the class by then.
place.mutant ??= active === '' ? note : (id) => id === Number(active);

if (active === '' && reachFile !== undefined) {
  beforeEach(() => void (test = expect.getState().currentTestName ?? ''));
  afterEach(() => void (test = ''));
  afterAll(() => {
    const file = expect.getState().testPath;
    // One for the file in any case: what is missing was not recorded.
    const all = new Map([['', new Set<number>()], ...reached]);
    const lines = [...all].map(([name, ids]) => JSON.stringify({ file, test: name, reached: [...ids] }));
    appendFileSync(reachFile, lines.map((line) => `${line}\n`).join(''));
  });
}
