import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { inTurns } from '../../src/in-turns.js';
import { newReference } from '../harness/references.js';
import { openStack } from '../harness/stack.js';
import { transferInput } from '../harness/inputs.js';
import { untilFlow } from '../harness/reports.js';

const MINUTE_MS = 60_000;
const realNow = Date.now.bind(Date);

describe('a worker whose clock is five minutes off (fault 21)', () => {
  afterEach(() => void jest.restoreAllMocks());

  test.each([
    ['ahead', 5 * MINUTE_MS],
    ['behind', -5 * MINUTE_MS],
  ])('%s, refuses no valid quote of five transfers, and quotes none again', async (_, offMs) => {
    const bench = await openStack({
      time: 'skipping',
      timeoutMs: 8_000,
      sandbox: { stepMs: 3_600_000, wallNow: realNow },
    });
    jest.spyOn(Date, 'now').mockImplementation(() => realNow() + offMs);
    const references = Array.from({ length: 5 }, () => newReference('clock'));
    const quotes = await inTurns(references, 6, async (reference) => {
      const handle = await bench.start(transferInput(reference));
      const { view } = await untilFlow(handle, (report) => report.view.stage === 'tracking');
      await handle.terminate();
      return view.timeline.filter(({ code }) => code === 'quoted').length;
    });
    expect(quotes).toEqual(references.map(() => 1));
    for (const reference of references) expect(await bench.executions('createBridgeDeposit', reference)).toBe(1);
    jest.restoreAllMocks();
    await bench.close();
  });

  test.each([
    ['ahead', 5 * MINUTE_MS],
    ['behind', -5 * MINUTE_MS],
  ])('%s, sends no quote of five transfers that is too old, and quotes each again', async (_, offMs) => {
    const bench = await openStack({
      time: 'skipping',
      timeoutMs: 8_000,
      sandbox: { stepMs: 3_600_000, wallNow: realNow },
    });
    jest.spyOn(Date, 'now').mockImplementation(() => realNow() + offMs);
    for (let round = 0; round < 5; round += 1) {
      const reference = newReference('old');
      const handle = await bench.start(transferInput(reference, { approval: 'required' }));
      await untilFlow(handle, ({ view }) => view.stage === 'awaiting-approval');
      await bench.pass(2 * MINUTE_MS);
      await handle.executeUpdate('approveQuote', { args: [{ actor: 'ada' }] });
      const { view } = await untilFlow(handle, (report) => report.view.stage === 'tracking');
      expect(view.timeline.filter(({ code }) => code === 'quoted')).toHaveLength(2);
      await handle.terminate();
    }
    jest.restoreAllMocks();
    await bench.close();
  });
});
