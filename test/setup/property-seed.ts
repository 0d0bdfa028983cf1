import * as fc from 'fast-check';

/** One seed for all property tests, so that every run tries the same cases; `TEST_SEED=random` tries others, and prints it. */
const given = process.env['TEST_SEED'] ?? '20261122';
const seed = given === 'random' ? Math.floor(Math.random() * 2 ** 31) : Number(given);
if (!Number.isInteger(seed)) throw new Error(`TEST_SEED is "${given}": give a whole number, or "random"`);
if (given === 'random') process.stderr.write(`TEST_SEED=${seed}\n`);
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed });
