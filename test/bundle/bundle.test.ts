import { readFile } from 'node:fs/promises';
import { expect, it } from '@jest/globals';

/**
 * A worker evaluates this much at its start: what does not belong there, such as zod, is larger than what is left. Two
 * engines are in it until every kind is decided by rules; with one it is 650,000 again.
 */
const MOST_BYTES = 850_000;

it(`the workflow bundle has at most ${MOST_BYTES / 1e6} MB without its map`, async () => {
  const text = await readFile(process.env['TEST_WORKFLOW_BUNDLE'] ?? '', 'utf8');
  const bytes = Buffer.byteLength(text.slice(0, text.lastIndexOf('//# sourceMappingURL=data:')));
  process.stderr.write(`workflow bundle: ${(bytes / 1e6).toFixed(3)} MB without its map\n`);
  expect(bytes).toBeLessThanOrEqual(MOST_BYTES);
  expect(bytes).toBeGreaterThan(100_000);
});
