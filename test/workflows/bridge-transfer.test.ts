import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { FlowReport } from '../../src/flows/messages.js';
import { newReference, openBench, transferInput, trusted, until, type Bench } from './bench.js';

const HAPPY = ['DEPOSIT_CONFIRMED', 'PAYMENT_SENT', 'PAYMENT_CONFIRMED', 'SETTLING', 'COMPLETED'];

describe('a bridge transfer', () => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await openBench({ time: 'real', sandbox: { stepMs: 3_600_000 } });
  });
  afterAll(() => bench.close());

  test('completes on trusted events, with one execution and at most 40 history events', async () => {
    const reference = newReference('happy');
    const handle = await bench.start(transferInput(reference));
    await until(handle, ({ view }) => view.stage === 'tracking');
    for (const status of HAPPY) await handle.signal('events', [trusted(status)]);
    const result = (await handle.result()) as FlowReport;
    expect(result.view.state).toBe('completed');
    expect(Object.values(result.events)).toEqual(HAPPY.map(() => 'applied'));
    expect(await bench.executions('createBridgeDeposit', reference)).toBe(1);
    const history = await handle.fetchHistory();
    expect(history.events?.length).toBeLessThanOrEqual(40);
    expect((await handle.describe()).status.name).toBe('COMPLETED');
  });
});
