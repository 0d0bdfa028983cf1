import { describe, expect, it } from '@jest/globals';
import type { Ending } from '../../src/protocol/decisions.js';
import { orderRefusal } from '../../src/protocol/legal-orders.js';
import { PARK_ACTIONS, type ParkAction } from '../../src/protocol/vocabulary.js';
import { ASKED } from './combinations.js';

const SAYS: readonly (readonly [ParkAction, Ending])[] = [
  ['mark-completed', 'completed'],
  ['mark-refunded', 'refunded'],
  ['mark-failed', 'failed'],
  ['close-without-refund', 'failed'],
  ['close-not-executed', 'failed'],
];
const excludes = (one: Ending, other: Ending) =>
  one === 'failed' ? other !== 'failed' : one === 'refunded' ? other === 'completed' : other !== 'completed';

describe(`an order of a person, in each of ${ASKED.length} combinations of what was shown and is proven`, () => {
  it('is refused for an end that a proof excludes which the person had not seen', () => {
    for (const [action, says] of SAYS) {
      const carriedOut = ASKED.filter(({ proven, shown }) => orderRefusal(action, proven, shown) === null);
      const wrong = carriedOut.filter(({ proven, shown }) =>
        proven.some((ending) => !shown.includes(ending) && excludes(says, ending)),
      );
      expect(wrong).toEqual([]);
      expect(carriedOut.length).toBeGreaterThan(0);
    }
  });

  it('does not call failed what is proven to have completed or to be refunded, unless proofs exclude one another', () => {
    for (const action of ['mark-failed', 'close-without-refund', 'close-not-executed', 'send-again'] as const) {
      for (const { proven, shown } of ASKED) {
        const isConflict = proven.includes('completed') && proven.length > 1;
        if (isConflict || !(proven.includes('completed') || proven.includes('refunded'))) continue;
        expect(orderRefusal(action, proven, shown)).toMatchObject({ code: 'proven_otherwise' });
      }
    }
  });

  it('can be carried out if nothing is proven that was not shown, for each action of a conflict', () => {
    for (const action of PARK_ACTIONS.conflict) {
      expect(orderRefusal(action, ['completed', 'failed'], ['completed', 'failed'])).toBeNull();
      expect(orderRefusal(action, ['failed'], ['failed'])).toBeNull();
    }
  });
});
