import type { WorkflowHandle } from '@temporalio/client';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { transferInput } from '../harness/inputs.js';
import { newReference } from '../harness/references.js';
import { entriesOf, untilFlow } from '../harness/reports.js';
import { type Stack, openStack } from '../harness/stack.js';

describe('a bridge transfer whose quote is to be approved', () => {
  let bench: Stack;
  beforeAll(async () => {
    bench = await openStack({ time: 'skipping', sandbox: { stepMs: 3_600_000_000 } });
  });
  afterEach(() => bench.terminateAll());
  afterAll(() => bench.close());

  const started = async (word: string, more: Record<string, unknown> = {}) => {
    const reference = newReference(word);
    return { reference, handle: await bench.start(transferInput(reference, more)) };
  };
  const approve = (handle: WorkflowHandle, order: unknown = { actor: 'ada' }) =>
    handle.executeUpdate('approveQuote', { args: [order] });
  const refusalOf = (order: Promise<unknown>) =>
    order.then(
      () => null,
      (error: { cause?: { type?: string } }) => error.cause?.type,
    );

  test('waits with its quote shown, and sends its deposit once a person has approved that', async () => {
    const { reference, handle } = await started('approved', { approval: 'required' });
    const { view } = await untilFlow(handle, ({ view }) => view.stage === 'awaiting-approval');
    expect(view.timeline.map(({ code }) => code)).toEqual(['quoted', 'awaiting-approval']);
    expect(await bench.executions('createBridgeDeposit', reference)).toBe(0);
    expect(await approve(handle)).toEqual({ approved: true });
    const { view: after } = await untilFlow(handle, (report) => report.view.stage === 'tracking');
    expect(entriesOf(after, 'quote-approved')).toMatchObject([{ by: 'ada (unproven)' }]);
    expect(await bench.executions('createBridgeDeposit', reference)).toBe(1);
    expect(await refusalOf(approve(handle))).toBe('approval_not_awaited');
    await handle.terminate();
  });

  test('takes no approval that names no person, and waits on', async () => {
    const { reference, handle } = await started('nameless', { approval: 'required' });
    await untilFlow(handle, ({ view }) => view.stage === 'awaiting-approval');
    expect(await refusalOf(approve(handle, {}))).toBe('no_actor');
    expect((await untilFlow(handle, () => true)).view.stage).toBe('awaiting-approval');
    expect(await bench.executions('createBridgeDeposit', reference)).toBe(0);
    await handle.terminate();
  });

  test('takes none if its input asks for none: it has sent its deposit by then, and shows who decided nothing', async () => {
    const { reference, handle } = await started('unasked');
    const { view } = await untilFlow(handle, (report) => report.view.stage === 'tracking');
    expect(await refusalOf(approve(handle))).toBe('approval_not_awaited');
    expect(view.timeline.map(({ code }) => code)).toEqual(['quoted', 'sending', 'accepted']);
    expect(await bench.executions('createBridgeDeposit', reference)).toBe(1);
    await handle.terminate();
  });
});
