import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { NOT_CONNECTED, openBrokenWays, SENT_BY_ORDER, SENT_ONCE, type BrokenWays } from './not-sent.js';
import { newReference } from '../harness/references.js';
import { transferInput } from '../harness/inputs.js';
import { untilFlow } from '../harness/reports.js';

describe('a deposit that was not sent, or only in part', () => {
  let ways: BrokenWays;
  beforeAll(async () => {
    ways = await openBrokenWays();
  });
  afterAll(() => ways.close());

  test.each(NOT_CONNECTED)(
    'completes without a person after two attempts that could not connect: %s (fault 2)',
    async (way) => {
      expect(await ways.notConnected(way, 1)).toEqual([SENT_ONCE]);
    },
  );

  test("is unknown after half of its body and a reset, and executed once after a person's send-again (fault 3)", async () => {
    expect(await ways.halfSent(1)).toEqual([SENT_BY_ORDER]);
    expect(ways.cuts()).toBe(1);
  });

  test('fails as other_request_same_reference, without a POST, if another request has its reference (fault 9)', async () => {
    const { bench } = ways;
    const reference = newReference('other');
    const key = { account: bench.deps.account, operation: 'createBridgeDeposit', reference };
    await bench.deps.store.claims.reserve(key, { owner: 'earlier', flowId: 'x', fingerprint: 'of another request' });
    const handle = await bench.start(transferInput(reference));
    const { view } = await untilFlow(handle, (report) => report.view.outcome !== null);
    expect(view.outcome).toMatchObject({ state: 'failed', reason: 'other_request_same_reference' });
    expect(ways.posts(reference)).toBe(0);
  });
});
