import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import { trusted } from '../harness/inputs.js';
import { newReference } from '../harness/references.js';
import { untilFlow } from '../harness/reports.js';
import { type Stack, openStack } from '../harness/stack.js';
import { endOf } from './told-by-events-setup.js';

const MINUTE_MS = 60_000;

describe('a watched mobile money deposit', () => {
  let bench: Stack;
  beforeAll(async () => {
    bench = await openStack({ time: 'skipping', sandbox: { stepMs: 20 } });
  });
  afterAll(() => bench.close());
  beforeEach(() => bench.control('DELETE', '/faults'));

  /** Started elsewhere: this flow only knows its reference. */
  const deposit = async (referenceId: string, ending: string) => {
    await bench.control('POST', '/scenarios', { reference: referenceId, ending, operation: 'mobileMoneyDeposit' });
    const order = { referenceId, amount: 250.5, currency: 'KES', phoneNumber: '+254712345678' };
    await bench.control('POST', '/mobile-money-deposits', order);
  };
  const watch = (referenceId: string, more: Record<string, unknown> = {}) =>
    bench.startFlow('mobile-money-watch', referenceId, { referenceId, ...more });
  const move = (referenceId: string, status: string) => bench.move(referenceId, status, 'mobileMoneyDeposit');
  const looked = (handle: WorkflowHandle) =>
    untilFlow(handle, ({ view }) => view.timeline.some(({ detail }) => detail.includes('looked up')));

  test.each([
    ['completed', 'completed', null],
    ['failed', 'failed', 'failed_at_service'],
  ])('that ends as %s ends the flow as %s by its lookup alone, without any webhook', async (ending, state, reason) => {
    const reference = newReference(ending);
    await deposit(reference, ending);
    expect((await endOf(await watch(reference))).outcome).toMatchObject({ state, reason });
  });

  test('may begin after its flow: what the service does not know yet is waited for', async () => {
    const reference = newReference('early');
    const handle = await watch(reference);
    await untilFlow(handle, ({ view }) => view.stage === 'tracking');
    await bench.pass(MINUTE_MS);
    await deposit(reference, 'completed');
    expect((await endOf(handle)).state).toBe('completed');
  });

  test('is looked at once when a trusted event tells of it; an untrusted one moves nothing', async () => {
    const reference = newReference('told');
    await deposit(reference, 'never');
    const handle = await watch(reference);
    await looked(handle);
    await handle.signal('events', [trusted('FAILED', { trusted: false, proof: null, source: 'webhook' })]);
    await untilFlow(handle, ({ view }) => view.timeline.some(({ detail }) => detail.startsWith('unverified FAILED')));
    await move(reference, 'SUCCESSFUL');
    await handle.signal('events', [trusted('SUCCESSFUL', { source: 'webhook' })]);
    expect((await endOf(handle)).state).toBe('completed');
  });

  test('adds no history while it waits for hours, parks at the deadline, and is resolved by a late event', async () => {
    const reference = newReference('slow');
    await deposit(reference, 'never');
    const handle = await watch(reference, { deadlineSeconds: 10_800 });
    await looked(handle);
    const before = (await handle.describe()).historyLength;
    await bench.pass(120 * MINUTE_MS);
    // One activity, scheduled and pending; what it has looked up so far adds nothing.
    expect((await handle.describe()).historyLength - before).toBeLessThanOrEqual(4);
    await bench.pass(61 * MINUTE_MS);
    const { view } = await untilFlow(handle, (report) => report.view.state === 'parked');
    expect(view.parked).toMatchObject({ reason: 'no_settlement', evidence: { words: ['PENDING'] } });
    await move(reference, 'SUCCESSFUL');
    await handle.signal('events', [trusted('SUCCESSFUL', { source: 'webhook' })]);
    expect((await endOf(handle)).state).toBe('completed');
  });

  test('can be let go of at any time, parked too, since the flow moves nothing', async () => {
    const reference = newReference('cancelled');
    await deposit(reference, 'never');
    const running = await watch(reference);
    await looked(running);
    await running.executeUpdate('cancel', { args: [{ actor: 'ada' }] });
    expect((await endOf(running)).state).toBe('cancelled');

    const parked = await watch(newReference('unknown'), { deadlineSeconds: 600 });
    await untilFlow(parked, ({ view }) => view.stage === 'tracking');
    await bench.pass(11 * MINUTE_MS);
    await untilFlow(parked, (report) => report.view.state === 'parked');
    await parked.executeUpdate('cancel', { args: [{ actor: 'ada' }] });
    expect((await endOf(parked)).state).toBe('cancelled');
  });

  test('refuses a reference that is none, by name', async () => {
    const handle = await bench.startFlow('mobile-money-watch', 'x', { referenceId: '../x' });
    const { outcome } = await endOf(handle);
    expect(outcome).toMatchObject({ state: 'failed', reason: 'invalid_input' });
    expect(outcome?.detail).toContain('referenceId');
  });
});
