import { describe, expect, it } from '@jest/globals';
import { ENDINGS, type Ending } from '../../src/protocol/decisions.js';
import { PARK_ACTIONS, type ParkAction } from '../../src/protocol/vocabulary.js';
import { orderRefusal } from '../../workflows/bridge/order-refusal.js';

const SUBSETS = Array.from({ length: 2 ** ENDINGS.length }, (_, mask) =>
  ENDINGS.filter((_ending, bit) => (mask & (1 << bit)) !== 0),
);
/** What was proven when the transfer was shown, and what is when the order is carried out: never less. */
const CASES = SUBSETS.flatMap((shown) =>
  SUBSETS.filter((proven) => shown.every((ending) => proven.includes(ending))).map((proven) => ({ shown, proven })),
);
const SAYS: readonly (readonly [ParkAction, Ending])[] = [
  ['mark-completed', 'completed'],
  ['mark-refunded', 'refunded'],
  ['mark-failed', 'failed'],
  ['close-without-refund', 'failed'],
];
const excludes = (one: Ending, other: Ending) =>
  one === 'failed' ? other !== 'failed' : one === 'refunded' ? other === 'completed' : other !== 'completed';

describe(`an order about a transfer, in each of ${CASES.length} combinations of what was shown and is proven`, () => {
  it('says no end that a proof excludes which the person had not seen', () => {
    for (const [action, says] of SAYS) {
      const carriedOut = CASES.filter(({ proven, shown }) => orderRefusal(action, proven, shown) === null);
      const wrong = carriedOut.filter(({ proven, shown }) =>
        proven.some((ending) => !shown.includes(ending) && excludes(says, ending)),
      );
      expect(wrong).toEqual([]);
      expect(carriedOut.length).toBeGreaterThan(0);
    }
  });

  it('does not say failed of what is proven to have completed or to be refunded, unless proofs exclude one another', () => {
    for (const action of ['mark-failed', 'close-without-refund'] as const) {
      for (const { proven, shown } of CASES) {
        const isConflict = proven.includes('completed') && proven.length > 1;
        if (isConflict || !(proven.includes('completed') || proven.includes('refunded'))) continue;
        expect(orderRefusal(action, proven, shown)).toMatch(/a trusted event proves/);
      }
    }
  });

  it('can be carried out where nothing is proven that was not shown, for each action of a conflict', () => {
    for (const action of PARK_ACTIONS.conflict) {
      expect(orderRefusal(action, ['completed', 'failed'], ['completed', 'failed'])).toBeNull();
      expect(orderRefusal(action, ['failed'], ['failed'])).toBeNull();
    }
  });
});
