// Switches the mutant of this run on, before a file of tests loads what it tests; in the dry run it records what is reached.
import { appendFileSync } from 'node:fs';
import { afterAll, expect } from 'vitest';

type Switch = (id: number) => boolean;
const active = process.env['MUTANT'] ?? '';
const reachFile = process.env['MUTANT_REACH'];
const reached = new Set<number>();
const place = TextEncoder as typeof TextEncoder & { mutant?: Switch };

// A process that keeps its modules comes here for each file, and the workflows' sandbox has frozen the class by then.
place.mutant ??= active === '' ? (id) => reached.add(id) === undefined : (id) => id === Number(active);

if (active === '' && reachFile !== undefined) {
  afterAll(() => {
    appendFileSync(reachFile, `${JSON.stringify({ file: expect.getState().testPath, reached: [...reached] })}\n`);
  });
}
