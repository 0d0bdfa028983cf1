import { deepStrictEqual } from 'node:assert/strict';
import { createRandom } from '../harness/random.js';
import { CURRENCIES, keepBooks } from '../properties/money-books.js';
import type { Soak } from './main.js';

const OPERATIONS = 1_000_000;

export default {
  name: 'money-drift',
  says: `fault 46: ${OPERATIONS} operations with money in ${CURRENCIES.length} currencies, beside whole minor units`,
  run(report) {
    const firstSeed = Date.now();
    let [done, seed] = [0, firstSeed];
    for (; done < OPERATIONS; seed += 1) {
      for (const [name, decimals] of CURRENCIES) {
        const { differing, operations } = keepBooks(createRandom(seed), name, decimals);
        deepStrictEqual(differing, [], `drift with the seed ${seed}`);
        done += operations;
      }
    }
    report(`${done} operations, seeds ${firstSeed} to ${seed - 1}: drift 0`);
    return Promise.resolve();
  },
} satisfies Soak;
