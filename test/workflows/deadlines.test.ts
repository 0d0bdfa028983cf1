import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { FlowReport } from '../../src/api/flow.js';
import type { FlowEvent } from '../../src/protocol/messages.js';
import { transferInput, trusted } from '../harness/inputs.js';
import { newReference } from '../harness/references.js';
import { entriesOf, reportOf, untilFlow } from '../harness/reports.js';
import { type Stack, openStack } from '../harness/stack.js';

const HOUR_MS = 3_600_000;

describe('at its deadline a bridge transfer', () => {
  let bench: Stack;
  beforeAll(async () => {
    bench = await openStack({ time: 'skipping', sandbox: { stepMs: 3_600_000_000 } });
  });
  afterEach(() => bench.terminateAll());
  afterAll(() => bench.close());

  const tracked = async (word: string, more: Record<string, unknown> = {}) => {
    const reference = newReference(word);
    const handle = await bench.start(transferInput(reference, more));
    await untilFlow(handle, ({ view }) => view.stage === 'tracking');
    return { reference, handle };
  };
  /** An event of the provider as the inbox holds it; the flow gets it by a signal only if the test says so. */
  const received = async (flowId: string, reference: string, status: string, proof: 'signature' | null) => {
    const event: FlowEvent = trusted(status, { source: 'settlement', proof, trusted: proof !== null });
    await bench.store.inbox.receive({
      id: event.id,
      source: 'settlement',
      flowId,
      reference,
      status,
      proof,
      contentHash: randomUUID(),
      body: {
        webhook_type: 'settlement',
        provider_reference_id: reference,
        kotani_reference_id: (await reportOf(bench.client.workflow.getHandle(flowId))).view.serviceReference,
        status,
        timestamp: new Date().toISOString(),
        crypto_payment: {},
      },
    });
    return event;
  };
  const serviceStatus = async (reference: string): Promise<string> =>
    (await bench.control('GET', `/deposits/${reference}`)).deposits[0].status;

  test('fault 34: parks if no event ever came, and is not failed (n = 10); fault 33: a late event resolves it', async () => {
    const flows = await Promise.all(Array.from({ length: 10 }, () => tracked('never')));
    await bench.pass(HOUR_MS + 60_000);
    for (const { handle } of flows) {
      const { view } = await untilFlow(handle, (report) => report.view.state === 'parked');
      expect(view.parked).toMatchObject({
        reason: 'no_settlement',
        actions: ['keep-waiting', 'mark-completed', 'mark-failed', 'mark-refunded'],
      });
      await handle.signal('events', [trusted('COMPLETED')]);
      expect(((await handle.result()) as FlowReport).view.state).toBe('completed');
    }
  });

  test.each([
    ['undelivered', 'COMPLETED'],
    ['undelivered, in words that the provider writes in its own way', 'completed '],
  ])('fault 23: reads the inbox once more, and ends on what lies there %s', async (_, word) => {
    const { reference, handle } = await tracked('undelivered');
    await received(handle.workflowId, reference, word, 'signature');
    const result = (await handle.result()) as FlowReport;
    expect(result.view.state).toBe('completed');
    expect(await serviceStatus(reference)).toBe('COMPLETED');
  });

  test('parks as unverified_settlement if an unproven one came; a person trusts it, and it is reported to the service', async () => {
    const { reference, handle } = await tracked('unverified');
    const event = await received(handle.workflowId, reference, 'COMPLETED', null);
    await handle.signal('events', [event]);
    await bench.pass(HOUR_MS + 60_000);
    const { view } = await untilFlow(handle, (report) => report.view.state === 'parked');
    expect(view.parked).toMatchObject({ reason: 'unverified_settlement', evidence: { claimed: [{ id: event.id }] } });
    expect(await serviceStatus(reference)).toBe('DEPOSIT_INITIATED');
    await handle.executeUpdate('resolve', {
      args: [{ action: 'trust-settlement', note: 'the bank shows it', actor: 'ada', eventId: event.id }],
    });
    const result = (await handle.result()) as FlowReport;
    expect(result.view.state).toBe('completed');
    expect(result.events[event.id]).toBe('applied');
    expect(await serviceStatus(reference)).toBe('COMPLETED');
  });

  test('a person trusts one settlement of several, by its id, and no other in its place', async () => {
    const { reference, handle } = await tracked('several');
    const forged = await received(handle.workflowId, reference, 'FAILED', null);
    const genuine = await received(handle.workflowId, reference, 'COMPLETED', null);
    const last = await received(handle.workflowId, reference, 'REFUNDED', null);
    await handle.signal('events', [forged, genuine, last]);
    await bench.pass(HOUR_MS + 60_000);
    await untilFlow(handle, (report) => report.view.state === 'parked');
    const trust = (eventId?: string) =>
      handle.executeUpdate('resolve', {
        args: [{ action: 'trust-settlement', note: 'the bank shows it', actor: 'ada', ...(eventId && { eventId }) }],
      });
    const causeOf = async (refused: Promise<unknown>) =>
      refused.then(
        () => 'taken',
        (error: { cause?: { type?: string } }) => error.cause?.type,
      );
    expect(await causeOf(trust())).toBe('event_not_named');
    expect(await causeOf(trust('evt_only-in-the-inbox'))).toBe('event_not_asked_about');
    expect((await reportOf(handle)).view.state).toBe('parked');
    await trust(genuine.id);
    expect(((await handle.result()) as FlowReport).view.state).toBe('completed');
  });

  test('asks a person about an event in the inbox that names another flow, and about one that has lost its body', async () => {
    const { reference, handle } = await tracked('not-mine');
    const row = { source: 'callback', flowId: handle.workflowId, status: 'COMPLETED', proof: 'capability' } as const;
    const purged = { ...row, id: randomUUID(), reference, contentHash: randomUUID() };
    await bench.store.inbox.receive({ ...purged, body: { status: 'COMPLETED', provider_reference_id: reference } });
    await bench.store.inbox.settle([{ id: purged.id, state: 'late' }]);
    await bench.store.inbox.purgeBodies(new Date('2999-01-01'));
    const foreign = { ...row, id: randomUUID(), reference: 'another', contentHash: randomUUID() };
    await bench.store.inbox.receive({ ...foreign, body: { status: 'COMPLETED', provider_reference_id: 'another' } });
    await bench.pass(HOUR_MS + 60_000);
    const differs = async (what: string) => {
      const { view } = await untilFlow(handle, (report) => report.view.state === 'parked');
      expect(view.parked).toMatchObject({ reason: 'event_mismatch', evidence: { differs: [what] } });
      await handle.executeUpdate('resolve', { args: [{ action: 'dismiss-event', note: 'not ours', actor: 'ada' }] });
    };
    await differs('body');
    await differs('reference');
    await handle.signal('events', [trusted('COMPLETED')]);
    await handle.result();
  });

  test('waits for another term when a person orders it, and parks again', async () => {
    const { handle } = await tracked('keep-waiting');
    await bench.pass(HOUR_MS + 60_000);
    const first = await untilFlow(handle, (report) => report.view.state === 'parked');
    await handle.executeUpdate('resolve', { args: [{ action: 'keep-waiting', note: 'soon', actor: 'ada' }] });
    const running = await untilFlow(handle, (report) => report.view.state === 'running');
    expect(Date.parse(running.view.deadlineAt ?? '')).toBeGreaterThan(Date.parse(first.view.deadlineAt ?? ''));
    await bench.pass(HOUR_MS + 60_000);
    await untilFlow(handle, (report) => report.view.state === 'parked');
    await handle.executeUpdate('resolve', {
      args: [{ action: 'mark-failed', note: 'the provider gave up', actor: 'ada' }],
    });
    const { view } = await untilFlow(handle, (report) => report.view.outcome !== null);
    expect(view.outcome).toMatchObject({ state: 'failed', reason: 'closed_by_person' });
  });

  test('waits until the very time that a person gives, whatever its own waits are scaled by, and parks again', async () => {
    const { handle } = await tracked('until', { timeScale: 0.5 });
    await bench.pass(HOUR_MS);
    const { view: parked } = await untilFlow(handle, (report) => report.view.state === 'parked');
    const resolve = (action: string, until: string) =>
      handle.executeUpdate('resolve', { args: [{ action, note: 'its bank is closed', actor: 'ada', until }] });
    const causeOf = (refused: Promise<unknown>) =>
      refused.then(
        () => 'taken',
        (error: { cause?: { type?: string } }) => error.cause?.type,
      );
    const nowMs = Date.parse(parked.parked?.since ?? '');
    const inDays = (days: number) => new Date(nowMs + days * 24 * HOUR_MS).toISOString();
    expect(await causeOf(resolve('keep-waiting', inDays(-1)))).toBe('invalid_input');
    expect(await causeOf(resolve('keep-waiting', inDays(92)))).toBe('invalid_input');
    expect(await causeOf(resolve('keep-waiting', 'tomorrow'))).toBe('invalid_input');
    expect(await causeOf(resolve('mark-failed', inDays(3)))).toBe('invalid_input');
    const until = inDays(3);
    await resolve('keep-waiting', until);
    const { view } = await untilFlow(handle, (report) => report.view.state === 'running');
    expect(view.deadlineAt).toBe(until);
    await bench.pass(2 * 24 * HOUR_MS);
    expect((await reportOf(handle)).view.state).toBe('running');
    await bench.pass(25 * HOUR_MS);
    await untilFlow(handle, (report) => report.view.state === 'parked');
    await handle.signal('events', [trusted('COMPLETED')]);
    await handle.result();
  });

  test('a parked flow reminds once a day, and is still parked after a month', async () => {
    let reminders = 0;
    const log = {
      info() {},
      error() {},
      warn: (_: unknown, message: string) => void (reminders += message.includes('parked') ? 1 : 0),
    };
    const own = await openStack({ time: 'skipping', sandbox: { stepMs: 3_600_000_000 }, deps: { log } });
    const handle = await own.start(transferInput(newReference('month')));
    await untilFlow(handle, ({ view }) => view.stage === 'tracking');
    await own.pass(30 * 24 * HOUR_MS);
    const { view } = await untilFlow(handle, (report) => report.view.state === 'parked');
    expect(view.parked?.reason).toBe('no_settlement');
    expect(reminders).toBeGreaterThanOrEqual(28);
    await handle.signal('events', [trusted('COMPLETED')]);
    await handle.result();
    await own.close();
  });

  test('expires with nothing sent if the approval never came', async () => {
    const reference = newReference('no-approval');
    const handle = await bench.start(transferInput(reference, { approval: 'required', deadlineSeconds: 600 }));
    await untilFlow(handle, ({ view }) => view.stage === 'awaiting-approval');
    await bench.pass(11 * 60_000);
    const { view } = await untilFlow(handle, (report) => report.view.outcome !== null);
    expect(view.outcome).toMatchObject({ state: 'expired', reason: 'deadline_passed' });
    expect(await bench.executions('createBridgeDeposit', reference)).toBe(0);
  });

  test('fault 20: a quote that expired while it waited is not sent; a new one within the slippage keeps the approval', async () => {
    const rates: unknown[] = [];
    const service = {
      ...bench.deps.service,
      createBridgeDeposit: (body: Parameters<typeof bench.deps.service.createBridgeDeposit>[0]) => {
        rates.push(body.rate_id);
        return bench.deps.service.createBridgeDeposit(body);
      },
    };
    const own = await openStack({ time: 'skipping', deps: { ...bench.deps, service } });
    for (let round = 0; round < 10; round += 1) {
      const reference = newReference('waited');
      const handle = await own.start(transferInput(reference, { approval: 'required' }));
      const { view: waiting } = await untilFlow(handle, ({ view }) => view.stage === 'awaiting-approval');
      const [firstRate] = /\brate_\w+/.exec(entriesOf(waiting, 'quoted')[0]?.detail ?? '') ?? [];
      await own.pass(120_000);
      await handle.executeUpdate('approveQuote', { args: [{ actor: 'ada' }] });
      const { view } = await untilFlow(handle, (report) => report.view.stage === 'tracking');
      expect(entriesOf(view, 'quoted')).toHaveLength(2);
      expect(firstRate).toMatch(/^rate_/);
      expect(rates).not.toContain(firstRate);
      expect(await bench.executions('createBridgeDeposit', reference)).toBe(1);
      await handle.terminate();
    }
    expect(rates).toHaveLength(10);
    await own.close();
  });
});
