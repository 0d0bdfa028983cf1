import { createHash } from 'node:crypto';
import { relative } from 'node:path';

const counts = new Map<string, number>();

/**
 * A reference that no other test uses, and the same one in every run: what is seeded by references (the sandbox's
 * faults and adversary) then does the same every time. It is the word, a hash of the test file's path, and a count.
 */
export function newReference(word = 'ref'): string {
  const ofFile = `${word}-${fileHash()}`;
  const count = (counts.get(ofFile) ?? 0) + 1;
  counts.set(ofFile, count);
  return `${ofFile}-${count}`;
}

/** The runner's own, if it runs this: the soak also loads this file, and cannot load `vitest`. */
const runner = globalThis as { expect?: { getState(): { testPath?: string } } };

/** Eight hex digits for the test file that runs. */
function fileHash(): string {
  const path = runner.expect?.getState().testPath ?? 'soak';
  return createHash('sha256').update(relative(process.cwd(), path)).digest('hex').slice(0, 8);
}
