import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { earlyEvents } from './setup/early-events.js';
import { startFlowWorker, type FlowWorker } from './setup/flow-worker.js';
import { signed } from './setup/sign.js';
import { signalsOf } from './setup/signals.js';
import { until } from '../harness/until.js';
import { SETTLEMENT_SECRET } from '../harness/fixed.js';
import { gatewayUnderTest, type GatewayUnderTest } from './setup/gateway-under-test.js';
import { newReference } from '../harness/references.js';
import { settlement, transferInput } from '../harness/inputs.js';

const SETTLEMENT_PATH = '/api/v3/deposit/crypto-bridge/webhook/provider/settlement';

describe('the way of an event into its flow', () => {
  let tested: GatewayUnderTest;
  let worker: FlowWorker | undefined;
  beforeAll(async () => {
    tested = await gatewayUnderTest();
  });
  const workerRuns = async () => (worker ??= await startFlowWorker(tested));
  afterAll(async () => {
    await tested.close();
    await worker?.stop();
  });

  const start = (reference: string, changes = {}) =>
    tested.post('/flows/bridge-transfer', transferInput(reference, changes));
  const rowsOf = (reference: string) => tested.store.inbox.list({ flowId: `bridge-transfer/${reference}`, limit: 500 });
  const allSettled = (reference: string, events: number) =>
    until(`${events} settled rows`, async () => {
      const rows = await rowsOf(reference);
      return rows.length === events && rows.every(({ settledAt }) => settledAt !== null) && rows;
    });
  const signals = (reference: string) => signalsOf(tested.client, `bridge-transfer/${reference}`);

  // First, since no worker runs yet.
  it('fault 28: keeps 200 events that came before any worker: two signals for each flow, each event in one, none lost', async () => {
    const found = await earlyEvents(tested, { flows: 4, startWorker: workerRuns });
    expect(found).toEqual({ events: 200, applied: 4, signals: 8 });
  });

  it('fault 29: keeps events of flows that do not exist yet: 20 early events, lost 0', async () => {
    await workerRuns();
    const references = Array.from({ length: 20 }, () => newReference());
    await Promise.all(
      references.map((reference) => tested.post(tested.callbackPath(reference), { status: 'COMPLETED' })),
    );
    const isListed = async (reference: string) => (await rowsOf(reference))[0]?.state === 'unmatched';
    for (const reference of references) await until('it to be listed', () => isListed(reference));
    await Promise.all(references.map((reference) => start(reference)));
    for (const reference of references) {
      expect(await allSettled(reference, 1)).toMatchObject([{ state: 'applied' }]);
      expect((await signals(reference)).flat()).toHaveLength(1);
    }
  });

  it('fault 24: takes the same event 1,000 times as one row, one signal and one effect', async () => {
    await workerRuns();
    const reference = newReference();
    await start(reference);
    const path = tested.callbackPath(reference);
    for (let round = 0; round < 10; round += 1) {
      await Promise.all(Array.from({ length: 100 }, () => tested.post(path, { status: 'PAYMENT_SENT' })));
    }
    const rows = await allSettled(reference, 1);
    expect(rows).toMatchObject([{ state: 'applied', repeats: 999 }]);
    expect((await signals(reference)).map((events) => events.map(({ id }) => id))).toEqual([[rows[0]?.id]]);
    const { timeline } = (await tested.get(`/flows/bridge-transfer/${reference}`)).body;
    expect(timeline.filter(({ detail }: { detail: string }) => detail.includes('PAYMENT_SENT'))).toHaveLength(1);
  });

  it('keeps the order in which the events of a flow came', async () => {
    await workerRuns();
    const reference = newReference();
    const path = tested.callbackPath(reference);
    const statuses = ['DEPOSIT_CONFIRMED', 'PAYMENT_SENT', 'PAYMENT_CONFIRMED', 'SETTLING'];
    await start(reference);
    for (const status of statuses) await tested.post(path, { status });
    await allSettled(reference, statuses.length);
    expect((await signals(reference)).flat().map(({ status }) => status)).toEqual(statuses);
  });

  it('marks unproven events, which then end no flow', async () => {
    await workerRuns();
    const reference = newReference();
    await start(reference);
    await tested.post(SETTLEMENT_PATH, settlement(reference, 'COMPLETED'));
    expect(await allSettled(reference, 1)).toMatchObject([{ state: 'unverified', proof: null }]);
    expect((await tested.get(`/flows/bridge-transfer/${reference}`)).body).toMatchObject({ state: 'running' });

    const body = JSON.stringify(settlement(reference, 'COMPLETED'));
    await tested.post(SETTLEMENT_PATH, body, signed(SETTLEMENT_SECRET, body));
    const ended = await tested.get(`/flows/bridge-transfer/${reference}/wait?timeoutSeconds=300`);
    expect(ended.body).toMatchObject({ state: 'completed' });
  });

  it('fault 30: lists what comes after the end as late; if a proven event contradicts it, raises an alarm, and people are notified', async () => {
    await workerRuns();
    const reference = newReference();
    const path = tested.callbackPath(reference);
    await start(reference);
    await tested.post(path, { status: 'COMPLETED' });
    await tested.get(`/flows/bridge-transfer/${reference}/wait?timeoutSeconds=300`);
    await tested.post(path, { status: 'COMPLETED', again: true });
    await tested.post(path, { status: 'DEPOSIT_CONFIRMED' });
    await tested.post(path, { status: 'REFUNDED' });
    await tested.post(SETTLEMENT_PATH, settlement(reference, 'FAILED'));
    const rows = await allSettled(reference, 5);
    const late = rows.filter(({ state }) => state === 'late').map(({ status }) => status);
    expect(new Set(late)).toEqual(new Set(['COMPLETED', 'DEPOSIT_CONFIRMED', 'FAILED', 'REFUNDED']));
    const alarms = tested.log.filter(
      ({ alarm, flowId }) => alarm !== undefined && flowId === `bridge-transfer/${reference}`,
    );
    expect(alarms).toHaveLength(1);
    const { matters } = await tested.store.matters.due(100);
    const ofFlow = matters.filter(({ content }) => content.flowId === `bridge-transfer/${reference}`);
    const contradicting = rows.find(({ status, proof }) => status === 'REFUNDED' && proof !== null)?.id;
    expect(ofFlow).toMatchObject([{ content: { kind: 'late_event_contradicts', eventId: contradicting } }]);
  });

  it('reaches a flow that is parked', async () => {
    await workerRuns();
    const reference = newReference();
    await start(reference);
    const path = tested.callbackPath(reference);
    await tested.post(path, { status: 'COMPLETED', amount: 1, currency: 'KES' });
    const parked = await tested.get(`/flows/bridge-transfer/${reference}/wait?timeoutSeconds=300`);
    expect(parked.body).toMatchObject({ state: 'parked', parked: { reason: 'event_mismatch' } });
    await tested.post(path, { status: 'SETTLING' });
    const settling = async () => (await rowsOf(reference)).find(({ status }) => status === 'SETTLING');
    await until('the event to be applied', async () => (await settling())?.state === 'applied');
  });

  it('that names another flow than the path it came by is of its path: a person is asked, and a dry run of a replay shows the other reference', async () => {
    await workerRuns();
    const [mine, other] = [newReference(), newReference()];
    await Promise.all([start(mine), start(other)]);
    await tested.post(tested.callbackPath(mine), settlement(other, 'COMPLETED'));
    const { body } = await tested.get(`/flows/bridge-transfer/${mine}/wait?timeoutSeconds=300`);
    const evidence = { differs: ['reference'], ours: { reference: mine }, theirs: { reference: other } };
    expect(body).toMatchObject({ state: 'parked', parked: { reason: 'event_mismatch', evidence } });
    expect(await rowsOf(other)).toEqual([]);
    expect(await signals(other)).toEqual([]);
    const [row] = await rowsOf(mine);
    const dryRun = await tested.post(`/events/${row?.id}/replay`, { trust: true, dryRun: true });
    expect(dryRun.body).toMatchObject({ asEvent: { trusted: true, facts: { reference: other } } });
  });

  it('is listed as late if a terminated flow never saw it, with an alarm if money moved', async () => {
    const lonely = await gatewayUnderTest({ gateway: { nowMs: () => Date.now() + 61_000 } });
    const reference = newReference();
    const flowId = `bridge-transfer/${reference}`;
    await lonely.post('/flows/bridge-transfer', transferInput(reference));
    await lonely.post(lonely.callbackPath(reference), { status: 'COMPLETED' });
    await until('delivery', async () => (await lonely.store.inbox.list({ flowId }))[0]?.state === 'delivered');
    await lonely.client.workflow.getHandle(flowId).terminate();
    await until('late rows', async () => {
      const rows = await lonely.store.inbox.list({ flowId });
      return rows[0]?.state === 'late' && rows;
    });
    expect(lonely.log.filter(({ alarm }) => alarm !== undefined)).toHaveLength(1);
    await lonely.close();
  });

  it('is taken again when a person replays it with trust, after a dry run that changes nothing', async () => {
    await workerRuns();
    const reference = newReference();
    await start(reference);
    await tested.post(SETTLEMENT_PATH, settlement(reference, 'COMPLETED'));
    const [row] = await allSettled(reference, 1);
    const tried = await tested.post(`/events/${row?.id}/replay`, { trust: true, dryRun: true });
    expect(tried.body).toMatchObject({ dryRun: true, asEvent: { trusted: true }, flowState: 'running' });
    expect(await rowsOf(reference)).toMatchObject([{ state: 'unverified' }]);

    expect((await tested.post(`/events/${row?.id}/replay`, { trust: true })).status).toBe(200);
    const ended = await tested.get(`/flows/bridge-transfer/${reference}/wait?timeoutSeconds=300`);
    expect(ended.body).toMatchObject({ state: 'completed' });
    await until('the row to rise', async () => (await rowsOf(reference))[0]?.state === 'applied');
    expect(await rowsOf(reference)).toMatchObject([{ proof: 'person' }]);
  });
});
