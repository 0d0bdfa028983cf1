import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { FlowReport } from '../../src/protocol/messages.js';
import { trusted } from '../harness/inputs.js';
import { newReference } from '../harness/references.js';
import { untilFlow } from '../harness/reports.js';
import { type Stack, openStack } from '../harness/stack.js';

const HOUR_MS = 3_600_000;

describe('a crypto send', () => {
  let bench: Stack;
  beforeAll(async () => {
    bench = await openStack({ time: 'skipping', sandbox: { stepMs: 20 } });
  });
  afterAll(() => bench.close());
  beforeEach(() => bench.control('DELETE', '/faults'));

  const send = async (word: string, ending = 'completed', more: Record<string, unknown> = {}) => {
    const reference = newReference(word);
    await bench.control('POST', '/scenarios', { reference, ending });
    const handle = await bench.startFlow('crypto-send', reference, {
      referenceId: reference,
      receiverAddress: '0x3333333333333333333333333333333333333333',
      chain: 'CELO',
      token: 'USDC',
      cryptoAmount: '12.50',
      ...more,
    });
    return { reference, handle };
  };
  const stateOf = async (result: Promise<unknown>) => ((await result) as FlowReport).view.state;

  test('completes by its status lookup alone: it has no webhooks', async () => {
    const { reference, handle } = await send('happy');
    expect(await stateOf(handle.result())).toBe('completed');
    expect(await bench.executions('sendCrypto', reference)).toBe(1);
  });

  test('fails with the reason where the service says that it failed', async () => {
    const { handle } = await send('failed', 'failed');
    const { view } = await untilFlow(handle, (report) => report.view.outcome !== null).catch(async () => {
      await bench.pass(60_000);
      return untilFlow(handle, (report) => report.view.outcome !== null);
    });
    expect(view.outcome).toMatchObject({ state: 'failed', reason: 'failed_at_service' });
  });

  test.each(['answer-lost', 'error-after', 'garbage'])('after %s the lookup adopts it: executed once', async (kind) => {
    await bench.control('POST', '/faults', { operation: 'sendCrypto', kind, first: 1 });
    const { reference, handle } = await send(kind);
    expect(await stateOf(handle.result())).toBe('completed');
    expect(await bench.executions('sendCrypto', reference)).toBe(1);
  });

  test('what the service never had parks as not_found_at_service; sent again by a person, it completes once', async () => {
    await bench.control('POST', '/faults', { operation: 'sendCrypto', kind: 'reset-before', first: 1 });
    const { reference, handle } = await send('never-there');
    await bench.pass(120_000);
    const { view } = await untilFlow(handle, (report) => report.view.state === 'parked');
    expect(view.parked).toMatchObject({
      reason: 'not_found_at_service',
      actions: ['send-again', 'close-not-executed'],
    });
    expect(await bench.executions('sendCrypto', reference)).toBe(0);
    await handle.executeUpdate('resolve', { args: [{ action: 'send-again', note: 'not there', actor: 'ada' }] });
    expect(await stateOf(handle.result())).toBe('completed');
    expect(await bench.executions('sendCrypto', reference)).toBe(1);
  });

  test('one hour of polling adds no history; at the deadline it looks once more and parks; waiting on, it completes', async () => {
    const { reference, handle } = await send('slow', 'never');
    await untilFlow(handle, ({ view }) => view.stage === 'tracking');
    const before = (await handle.describe()).historyLength;
    await bench.pass(HOUR_MS - 60_000);
    const during = (await handle.describe()).historyLength;
    // One word (PENDING) was news; after it an hour of the same adds nothing.
    expect(during - before).toBeLessThanOrEqual(8);
    await bench.pass(120_000);
    const { view } = await untilFlow(handle, (report) => report.view.state === 'parked');
    expect(view.parked?.reason).toBe('no_settlement');
    await handle.executeUpdate('resolve', {
      args: [{ action: 'mark-completed', note: `seen on chain for ${reference}`, actor: 'ada' }],
    });
    expect(await stateOf(handle.result())).toBe('completed');
  });

  test('a trusted event is a hint: it makes the flow look at once, and the lookup decides', async () => {
    const { handle } = await send('hint', 'never');
    await untilFlow(handle, ({ view }) => view.timeline.some((entry) => entry.detail.includes('looked up')));
    await handle.signal('events', [trusted('SUCCESSFUL', { source: 'webhook' })]);
    const { view } = await untilFlow(handle, (report) =>
      report.view.timeline.some((entry) => entry.detail.includes('SUCCESSFUL')),
    );
    expect(view.state).toBe('running');
    await handle.terminate();
  });

  test('is refused before anything is sent where a member is wrong, by name', async () => {
    const { reference, handle } = await send('wrong', 'completed', { token: 'DOGE', cryptoAmount: '-1' });
    const { view } = await untilFlow(handle, (report) => report.view.outcome !== null);
    expect(view.outcome).toMatchObject({ state: 'failed', reason: 'invalid_input' });
    expect(view.outcome?.detail).toMatch(/token/);
    expect(view.outcome?.detail).toMatch(/cryptoAmount/);
    expect(await bench.executions('sendCrypto', reference)).toBe(0);
  });
});
