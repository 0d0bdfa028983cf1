import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { until } from '../harness/until.js';
import { KINDS, type NamedKind } from '../harness/kinds.js';
import { failingOf, SIGNED, startOne, subscribe, whenDone } from './kinds-at-play.js';
import { type Stack, withStack } from './stack.js';

/** Kind by kind, side by side. */
const each = async <T>(kinds: readonly NamedKind[], play: (kind: NamedKind) => Promise<T>) =>
  Object.fromEntries(await Promise.all(kinds.map(async (kind) => [kind.kind, await play(kind)] as const)));
const states = (kinds: readonly NamedKind[], stateOf: (kind: NamedKind) => string) =>
  Object.fromEntries(kinds.map((kind) => [kind.kind, stateOf(kind)]));

/** Everything after this is reconciled by `withStack`, after each test: I1 to I8, for each kind. */
describe('every kind of flow, started over HTTP, through gateway, worker and sandbox', () => {
  let stack: Stack;
  withStack(SIGNED, (opened) => (stack = opened));
  beforeAll(() => subscribe(stack));
  afterEach(() => stack.control('POST', '/adversary', {}));

  test('is ended by callbacks and account webhooks: it asks the service only when one of them hints', async () => {
    const ends = await each(KINDS, async (kind) => {
      const reference = await startOne(stack, kind);
      const { state } = await whenDone(stack, kind.kind, reference);
      const rows = await stack.store.inbox.list({ flowId: `${kind.kind}/${reference}` });
      const lookups = stack.sources.wire?.().filter(({ method, path }) => method === 'GET' && path.includes(reference));
      const isHinted = (lookups?.length ?? 0) <= (kind.asksAtStart ?? 0) + rows.length;
      return { state, isHinted, told: rows.length > 0 };
    });
    expect(ends).toEqual(Object.fromEntries(KINDS.map(({ kind }) => [kind, TOLD_AND_COMPLETED])));
  });

  test('tells of its failure, or of its refund, and never of a failure where money is kept', async () => {
    const ends = await each(KINDS, async (kind) => {
      const reference = await startOne(stack, kind, { ending: failingOf(kind).ending, more: { timeScale: 0.02 } });
      return (await whenDone(stack, kind.kind, reference))['state'] as string;
    });
    expect(ends).toEqual(states(KINDS, (kind) => failingOf(kind).state));
  });

  test('with every webhook lost: completes where a lookup exists, else parks and is not called failed', async () => {
    await stack.control('POST', '/adversary', { drop: 1 });
    const references: [NamedKind, string][] = [];
    const ends = await each(KINDS, async (kind) => {
      const more = { timeScale: 0.005, ...(kind.hasLookup ? {} : { deadlineSeconds: 400 }) };
      const parks = kind.hasLookup ? {} : { parks: 'all its webhooks are lost' };
      const reference = await startOne(stack, kind, { more, ...parks });
      references.push([kind, reference]);
      const { state, parked } = await whenDone(stack, kind.kind, reference);
      return parked === null ? state : `${state}: ${parked.reason}`;
    });
    expect(ends).toEqual(states(KINDS, ({ hasLookup }) => (hasLookup ? 'completed' : 'parked: no_settlement')));
    // The operator of the service sends them once more.
    const parked = references.filter(([{ hasLookup }]) => !hasLookup);
    expect(parked.length).toBeGreaterThan(0);
    for (const [{ kind }, reference] of parked) {
      await until(`the service to be done with ${kind}`, () => isDone(reference));
      const { deliveries } = await stack.control('GET', `/deliveries?reference=${reference}`);
      await stack.control('POST', `/deliveries/${deliveries.at(-1).id}/resend`);
      await until(`the end of ${kind}`, async () => {
        const { state } = (await stack.get(`/flows/${kind}/${reference}`)).body;
        return state === 'completed';
      });
    }
  });

  const isDone = async (reference: string) => {
    const { deliveries } = await stack.control('GET', `/deliveries?reference=${reference}`);
    return ['COMPLETED', 'SUCCESSFUL'].includes(deliveries.at(-1)?.status);
  };
});

const TOLD_AND_COMPLETED = { state: 'completed', isHinted: true, told: true };
