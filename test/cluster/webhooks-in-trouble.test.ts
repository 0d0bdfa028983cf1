import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { failingOf, SIGNED, startOne, subscribe, whenDone } from '../end-to-end/kinds-at-play.js';
import { type Stack, withStack } from '../end-to-end/stack.js';
import { KINDS, type NamedKind } from '../harness/kinds.js';
import { until } from '../harness/until.js';

/**
 * A flow has ten minutes of patience with webhooks under its reference that are yet to be matched, which is half a minute
 * here: a busy machine parks none. If all are lost there are none, and the flows wait for their lookups alone.
 */
const moreIn = (trouble: Trouble) => ({ timeScale: trouble === 'all lost' ? 0.02 : 0.05 });
/**
 * For flows that cannot learn how they ended: four seconds of our time. The others have hours, so that a busy machine
 * parks none.
 */
const DEADLINE = { deadlineSeconds: 200 };

/** What happens to the webhooks of a flow in transit. Their callbacks also come early. */
const TROUBLES = {
  'each three times, late and in any order': { duplicate: 2, reorder: 1, delay: 1, delayMs: 400, early: true },
  'first attempt lost': { dropFirst: 1 },
  'all lost': { drop: 1 },
};
type Trouble = keyof typeof TROUBLES;

/** After each test, everything is reconciled by `withStack`: I1 to I8, for each kind. */
describe('every kind of flow, on a real cluster, while its webhooks are in trouble', () => {
  let stack: Stack;
  withStack({ ...SIGNED, serviceTimeoutMs: 30_000 }, (opened) => (stack = opened));
  beforeAll(() => subscribe(stack));
  afterEach(() => stack.control('POST', '/adversary', {}));

  /** If all webhooks of a kind without a lookup are lost, nothing can be known. */
  const isBlind = ({ hasLookup }: NamedKind, trouble: Trouble) => trouble === 'all lost' && !hasLookup;

  test.each(Object.keys(TROUBLES) as Trouble[])(
    'ends as it must, one that completes and one that fails of each: %s',
    async (trouble) => {
      await stack.control('POST', '/adversary', TROUBLES[trouble]);
      const plays = [false, true].flatMap((fails) => KINDS.map((kind) => ({ kind, fails })));
      const endOf = async ({ kind, fails }: (typeof plays)[number]) => {
        const ending = fails ? { ending: failingOf(kind).ending } : {};
        const more = isBlind(kind, trouble) ? { ...moreIn(trouble), ...DEADLINE } : moreIn(trouble);
        const parks = isBlind(kind, trouble) ? { parks: 'all its webhooks are lost' } : {};
        const reference = await startOne(stack, kind, { ...ending, more, ...parks });
        const { state, parked } = await whenDone(stack, kind.kind, reference);
        return { kind, fails, end: parked === null ? state : `${state}: ${parked.reason}`, reference };
      };
      // One after the other: each has seconds to be sent before its deadline, and no other flow may take them.
      const blindEnds: Awaited<ReturnType<typeof endOf>>[] = [];
      for (const play of plays.filter(({ kind }) => isBlind(kind, trouble))) blindEnds.push(await endOf(play));
      const others = await Promise.all(plays.filter(({ kind }) => !isBlind(kind, trouble)).map(endOf));
      const ends = plays.flatMap(({ kind, fails }) =>
        [...blindEnds, ...others].filter((one) => one.kind === kind && one.fails === fails),
      );
      expect(ends.map(({ kind, fails, end }) => ({ kind: kind.kind, fails, end }))).toEqual(
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
      const blind = ends.filter(({ kind, fails }) => isBlind(kind, trouble) && !fails);
      expect(blind.length > 0).toBe(trouble === 'all lost');
      for (const { kind, reference } of blind) await completeByResend(kind, reference);
    },
  );

  /** The operator of the service sends its last webhook once more. */
  const completeByResend = async ({ kind }: NamedKind, reference: string) => {
    const deliveriesOf = async () =>
      (await stack.control('GET', `/deliveries?reference=${reference}`)).deliveries as Delivery[];
    await until(`the service to be done with ${kind}`, async () =>
      ['COMPLETED', 'SUCCESSFUL'].includes((await deliveriesOf()).at(-1)?.status ?? ''),
    );
    await stack.control('POST', `/deliveries/${(await deliveriesOf()).at(-1)?.id}/resend`);
    await until(
      `the end of ${kind}`,
      async () => (await stack.get(`/flows/${kind}/${reference}`)).body['state'] === 'completed',
    );
  };
});

interface Delivery {
  readonly id: number;
  readonly reference: string;
  readonly status?: string;
  readonly note: string;
  readonly state: string;
  readonly attempts: readonly { readonly answer: string }[];
}
