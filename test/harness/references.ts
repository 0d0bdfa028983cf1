import { createHash } from 'node:crypto';
import { relative } from 'node:path';

const counts = new Map<string, number>();

/**
 * A reference that no other test uses, and the same one in every run: what is seeded by references (the sandbox's
 * faults and adversary) then does the same every time. It is the word, a hash of the test file's path, and a count. Runs
 * that share a Temporal server name themselves in `TEST_RUN`.
 */
export function newReference(word = 'ref'): string {
  const ofFile = `${word}-${fileHash()}`;
  const count = (counts.get(ofFile) ?? 0) + 1;
  counts.set(ofFile, count);
  return `${ofFile}-${count}`;
}

/** The runner's own, if it runs this: the soak also loads this file, and cannot load `@jest/globals`. */
const runner = globalThis as { expect?: { getState(): { testPath?: string } } };

/** Eight hex digits for the test file that runs. */
function fileHash(): string {
  const path = runner.expect?.getState().testPath ?? 'soak';
  const place = (process.env['TEST_RUN'] ?? '') + relative(process.cwd(), path);
  return createHash('sha256').update(place).digest('hex').slice(0, 8);
}
