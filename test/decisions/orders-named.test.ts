import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import invoicePayment from '../kinds/invoice-payment.js';
import offramp from '../kinds/offramp.js';
import { newReference } from '../harness/references.js';
import { reportOf, untilFlow } from '../harness/reports.js';
import { openStack, type Stack } from '../harness/stack.js';

const REFUSED = { cause: { type: 'no_actor' } };

describe('an order that names no actor', () => {
  let bench: Stack;
  beforeAll(async () => {
    bench = await openStack({ time: 'skipping', sandbox: { stepMs: 3_600_000 } });
  });
  afterEach(() => bench.terminateAll());
  afterAll(() => bench.close());

  const order = (handle: WorkflowHandle, update: string, more: object = {}) =>
    handle.executeUpdate(update, { args: [{ action: 'mark-failed', note: 'seen', ...more }] });

  test.each([
    ['offramp', offramp.input, ['cancel', 'resolve', 'provideRefundInvoice'], { invoice: 'lnbc1' }],
    ['invoice-payment', invoicePayment.input, ['cancel', 'resolve', 'pay'], {}],
  ] as const)('is taken by no %s, and changes nothing', async (kind, inputOf, updates, more) => {
    const reference = newReference(kind);
    const handle = await bench.startFlow(kind, reference, inputOf(reference));
    await untilFlow(handle, ({ view }) => view.stage === 'tracking');
    for (const update of updates) {
      for (const actor of [undefined, 7, null])
        await expect(order(handle, update, { ...more, actor })).rejects.toMatchObject(REFUSED);
    }
    const { state, timeline } = (await reportOf(handle)).view;
    expect(state).toBe('running');
    expect(timeline.filter(({ by }) => by !== 'flow' && by !== 'service')).toEqual([]);
    await handle.terminate();
  });
});
