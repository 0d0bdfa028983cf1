import * as fc from 'fast-check';

/** One seed for all property tests, so that every run tries the same cases; `TEST_SEED=random` tries others. */
function propertySeed(): number {
  const given = process.env['TEST_SEED'] ?? '20261122';
  const seed = given === 'random' ? Math.floor(Math.random() * 2 ** 31) : Number(given);
  if (!Number.isInteger(seed)) throw new Error(`TEST_SEED is "${given}": give a whole number, or "random"`);
  return seed;
}

/** Each project of a run loads this file anew, and so does each of its test files. */
const run = globalThis as { towlinePrintsSeed?: true };

/** As a global setup: prints the seed once for the whole run, and passes it to all workers in `TEST_SEED`. */
export default function setup(): void {
  const seed = String(propertySeed());
  process.env['TEST_SEED'] = seed;
  if (run.towlinePrintsSeed) return;
  run.towlinePrintsSeed = true;
  process.stderr.write(`TEST_SEED=${seed}\n`);
}

// As a setup file of each test file.
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: propertySeed() });
