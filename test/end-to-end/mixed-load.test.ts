import { beforeAll, describe, expect, test } from '@jest/globals';
import { KINDS, type NamedKind } from '../harness/kinds.js';
import { failingOf, SIGNED, startOne, subscribe, whenDone } from './kinds-at-play.js';
import { type Stack, withStack } from './stack.js';

const MORE = { timeScale: 0.02 };
/** For those that cannot learn how they ended: four seconds of our time. The others have hours, so that a busy machine parks none. */
const DEADLINE = { deadlineSeconds: 200 };

/** What becomes of the webhooks of a flow on their way. Their callbacks come early, too. */
const TROUBLES = {
  'each three times, late and in any order': { duplicate: 2, reorder: 1, delay: 1, delayMs: 400, early: true },
  'first attempt lost': { dropFirst: 1 },
  'all lost': { drop: 1 },
};
type Trouble = keyof typeof TROUBLES;

describe('all kinds at once, with an adversary between the service and us', () => {
  let stack: Stack;
  withStack({ ...SIGNED, serviceTimeoutMs: 30_000 }, (opened) => (stack = opened));
  beforeAll(() => subscribe(stack));

  /** Of a kind without lookup whose webhooks are all lost, nothing can be known. */
  const isBlind = ({ hasLookup }: NamedKind, trouble: Trouble) => trouble === 'all lost' && !hasLookup;

  test.each(Object.keys(TROUBLES) as Trouble[])(
    'one that completes and one that fails of each kind, webhooks in trouble (%s): each ends as it must',
    async (trouble) => {
      await stack.control('POST', '/adversary', TROUBLES[trouble]);
      const plays = [false, true].flatMap((fails) => KINDS.map((kind) => ({ kind, fails })));
      const ends = await Promise.all(
        plays.map(async ({ kind, fails }) => {
          const ending = fails ? { ending: failingOf(kind).ending } : {};
          const more = isBlind(kind, trouble) ? { ...MORE, ...DEADLINE } : MORE;
          const parks = isBlind(kind, trouble) ? { parks: 'all its webhooks are lost' } : {};
          const reference = await startOne(stack, kind, { ...ending, more, ...parks });
          const { state, parked } = await whenDone(stack, kind.kind, reference);
          return { kind: kind.kind, fails, end: parked === null ? state : `${state}: ${parked.reason}`, reference };
        }),
      );
      expect(ends.map(({ kind, fails, end }) => ({ kind, fails, end }))).toEqual(
        plays.map(({ kind, fails }) => ({
          kind: kind.kind,
          fails,
          end: isBlind(kind, trouble) ? 'parked: no_settlement' : fails ? failingOf(kind).state : 'completed',
        })),
      );
      // The adversary did what it promised.
      const { deliveries } = await stack.control('GET', '/deliveries');
      const ours = new Set(ends.map(({ reference }) => reference));
      const sent = (deliveries as Delivery[]).filter(({ reference }) => ours.has(reference));
      const genuine = sent.filter(({ note }) => note === 'genuine');
      expect(genuine.length).toBeGreaterThan(plays.length);
      const duplicates = sent.filter(({ note }) => note === 'duplicate');
      expect(duplicates).toHaveLength(trouble === 'each three times, late and in any order' ? 2 * genuine.length : 0);
      expect(genuine.filter(({ state }) => state === 'dropped')).toHaveLength(
        trouble === 'all lost' ? genuine.length : 0,
      );
      expect(genuine.filter(({ attempts }) => attempts[0]?.answer.startsWith('lost on the way'))).toHaveLength(
        trouble === 'first attempt lost' ? genuine.length : 0,
      );
    },
  );
});

interface Delivery {
  readonly reference: string;
  readonly note: string;
  readonly state: string;
  readonly attempts: readonly { readonly answer: string }[];
}
