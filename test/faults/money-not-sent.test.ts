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

  test.each(NOT_CONNECTED)('fault 2: %s, twice: tried again freely, completes, no person is asked', async (way) => {
    expect(await ways.notConnected(way, 1)).toEqual([SENT_ONCE]);
  });

  test('fault 3: a half-sent body and a reset: unknown, never executed by half, executed once after a person ordered another send', async () => {
    expect(await ways.halfSent(1)).toEqual([SENT_BY_ORDER]);
    expect(ways.cuts()).toBe(1);
  });

  test('fault 9: another request under a used reference: refused before the network, no POST', async () => {
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
