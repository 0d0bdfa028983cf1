import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { until } from '../harness/until.js';
import { KINDS_AT_PLAY, SIGNED, startOne, subscribe, whenDone, type KindAtPlay } from './kinds-at-play.js';
import { type Stack, withStack } from './stack.js';

/** Kind by kind, side by side. */
const each = async <T>(kinds: readonly KindAtPlay[], play: (kind: KindAtPlay) => Promise<T>) =>
  Object.fromEntries(await Promise.all(kinds.map(async (kind) => [kind.kind, await play(kind)] as const)));
const states = (kinds: readonly KindAtPlay[], stateOf: (kind: KindAtPlay) => string) =>
  Object.fromEntries(kinds.map((kind) => [kind.kind, stateOf(kind)]));

/**
 * What is asked before any event: an invoice is read, and whether it is paid already; a KYC record begins by it. A crypto
 * send has no webhook of its own kind: it asks from two seconds after it was sent on.
 */
const ASKS_AT_START: Readonly<Record<string, number>> = {
  'invoice-payment': 2,
  'kyc-check': 1,
  'crypto-send': Number.POSITIVE_INFINITY,
};

/** Everything after this is reconciled by `withStack`, after each test: I1 to I8, for each kind. */
describe('every kind of flow, started over HTTP, through gateway, worker and sandbox', () => {
  let stack: Stack;
  withStack(SIGNED, (opened) => (stack = opened));
  beforeAll(() => subscribe(stack));
  afterEach(() => stack.control('POST', '/adversary', {}));

  test('is ended by callbacks and account webhooks: it asks the service only when one of them hints', async () => {
    const ends = await each(KINDS_AT_PLAY, async (kind) => {
      const reference = await startOne(stack, kind);
      const { state } = await whenDone(stack, kind.kind, reference);
      const rows = await stack.store.inbox.list({ flowId: `${kind.kind}/${reference}` });
      const lookups = stack.sources.wire?.().filter(({ method, path }) => method === 'GET' && path.includes(reference));
      const atStart = ASKS_AT_START[kind.kind] ?? 0;
      const isHinted = (lookups?.length ?? 0) <= atStart + rows.length;
      return { state, isHinted, told: rows.length > 0 };
    });
    expect(ends).toEqual(Object.fromEntries(KINDS_AT_PLAY.map(({ kind }) => [kind, TOLD_AND_COMPLETED])));
  });

  test('tells of its failure, or of its refund, and never of a failure where money is kept', async () => {
    const ends = await each(KINDS_AT_PLAY, async (kind) => {
      const reference = await startOne(stack, kind, { ending: kind.failing.ending, more: { timeScale: 0.02 } });
      return (await whenDone(stack, kind.kind, reference))['state'] as string;
    });
    expect(ends).toEqual(states(KINDS_AT_PLAY, ({ failing }) => failing.state));
  });

  test('with every webhook lost: completes where a lookup exists, else parks and is not called failed', async () => {
    await stack.control('POST', '/adversary', { drop: 1 });
    const references: [KindAtPlay, string][] = [];
    const ends = await each(KINDS_AT_PLAY, async (kind) => {
      const more = { timeScale: 0.005, ...(kind.hasLookup ? {} : { deadlineSeconds: 400 }) };
      const parks = kind.hasLookup ? {} : { parks: 'all its webhooks are lost' };
      const reference = await startOne(stack, kind, { more, ...parks });
      references.push([kind, reference]);
      const { state, parked } = await whenDone(stack, kind.kind, reference);
      return parked === null ? state : `${state}: ${parked.reason}`;
    });
    expect(ends).toEqual(states(KINDS_AT_PLAY, ({ hasLookup }) => (hasLookup ? 'completed' : 'parked: no_settlement')));
    // The operator of the service sends them once more.
    const parked = references.filter(([{ hasLookup }]) => !hasLookup);
    expect(parked).toHaveLength(4);
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
