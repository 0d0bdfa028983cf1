// Switches the mutant of this run on, before a file of tests loads what it tests; in the dry run it records what is reached.
import { appendFileSync } from 'node:fs';
import { afterAll, afterEach, beforeEach, expect } from 'vitest';

interface TaskBase {
  readonly name: string;
  readonly suite?: TaskBase | undefined;
}

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
  beforeEach(({ task }) => void (test = fullNameOf(task)));
  afterEach(() => void (test = ''));
  afterAll(() => {
    const file = expect.getState().testPath;
    const lines = [...reached].map(([name, ids]) => JSON.stringify({ file, test: name, reached: [...ids] }));
    appendFileSync(reachFile, lines.map((line) => `${line}\n`).join(''));
  });
}

/** As the report and `testNamePattern` have it. */
function fullNameOf({ name, suite }: TaskBase): string {
  return suite === undefined ? name : `${fullNameOf(suite)} ${name}`;
}
