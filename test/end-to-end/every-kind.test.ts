import { beforeAll, describe, expect, test } from '@jest/globals';
import { until } from '../harness/until.js';
import { KINDS, type NamedKind } from '../harness/kinds.js';
import { SIGNED, startOne, subscribe, whenDone } from './kinds-at-play.js';
import { type Stack, withStack } from './stack.js';

/** Everything after this is reconciled by `withStack`, after each test: I1 to I8, for each kind. */
describe('every kind of flow, started over HTTP, through gateway, worker and sandbox', () => {
  let stack: Stack;
  withStack({ ...SIGNED, serviceTimeoutMs: 30_000 }, (opened) => (stack = opened));
  beforeAll(() => subscribe(stack));

  test('is ended by callbacks and account webhooks: it asks the service only when one of them hints', async () => {
    const play = async (kind: NamedKind) => {
      const reference = await startOne(stack, kind);
      const { state } = await whenDone(stack, kind.kind, reference);
      // A record that was begun elsewhere may be settled at the first lookup, and its webhook matched only then.
      const rows = await until(`the events of ${reference}`, async () => {
        const found = await stack.store.inbox.list({ flowId: `${kind.kind}/${reference}` });
        return found.length > 0 && found;
      });
      const lookups = stack.sources.wire?.().filter(({ method, path }) => method === 'GET' && path.includes(reference));
      const isHinted = (lookups?.length ?? 0) <= (kind.asksAtStart ?? 0) + rows.length;
      return { kind: kind.kind, state, isHinted };
    };
    expect(await Promise.all(KINDS.map(play))).toEqual(
      KINDS.map(({ kind }) => ({ kind, state: 'completed', isHinted: true })),
    );
  });
});
