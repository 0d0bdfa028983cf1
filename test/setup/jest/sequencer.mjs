import Sequencer from '@jest/test-sequencer';

/** Jest's own order (what failed first, then what took longest), or the one that `TEST_ORDER` names: see tools/test.mjs. */
export default class Order extends Sequencer {
  sort(tests) {
    const [order, seed] = (process.env.TEST_ORDER ?? '').split(':');
    if (order === '') return super.sort(tests);
    const byName = [...tests].sort((one, other) => (one.path < other.path ? -1 : 1));
    if (order === 'reverse') return byName.toReversed();
    const random = randomNumbers(Number(seed));
    return byName
      .map((test) => ({ test, place: random() }))
      .sort((one, other) => one.place - other.place)
      .map(({ test }) => test);
  }
}

/** Numbers below 2^32, the same for the same seed: a linear congruential generator. */
function randomNumbers(seed) {
  let state = seed >>> 0;
  return () => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0);
}
