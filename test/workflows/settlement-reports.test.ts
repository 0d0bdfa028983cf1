import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import type { FlowReport } from '../../src/api/flow.js';
import { InvalidRequestError } from '../../src/service-client/index.js';
import { transferInput, trusted } from '../harness/inputs.js';
import { newReference } from '../harness/references.js';
import { entriesOf, noted, untilFlow } from '../harness/reports.js';
import { type Stack, openStack } from '../harness/stack.js';

const MINUTE_MS = 60_000;
/** How long the process that runs the activities was suspended, in all. */
let suspendedMs = 0;

describe("a provider's trusted settlement, reported to the service,", () => {
  let bench: Stack;
  beforeAll(async () => {
    const deps = { monotonicMs: () => performance.now() + suspendedMs };
    bench = await openStack({ time: 'skipping', sandbox: { stepMs: 3_600_000_000 }, deps });
  });
  afterEach(() => bench.terminateAll());
  afterAll(() => bench.close());
  beforeEach(() => bench.control('DELETE', '/faults'));

  const tracked = async (word: string, more: Record<string, unknown> = {}) => {
    const reference = newReference(word);
    const handle = await bench.start(transferInput(reference, more));
    await untilFlow(handle, ({ view }) => view.stage === 'tracking');
    return { reference, handle };
  };
  /** Received with this body, and delivered. */
  const settled = async (reference: string, body: unknown, suffix = '', status = 'COMPLETED') => {
    const id = randomUUID();
    const flowId = `bridge-transfer/${reference}`;
    const row = { id, source: 'settlement', flowId, reference, status, proof: 'signature' } as const;
    await bench.store.inbox.receive({ ...row, contentHash: id, body });
    const event = trusted(status, { id: id + suffix, source: 'settlement', proof: 'signature' });
    await bench.client.workflow.getHandle(flowId).signal('events', [event]);
    return id;
  };
  const serviceStatus = async (reference: string): Promise<string> =>
    (await bench.control('GET', `/deposits/${reference}`)).deposits[0].status;
  const parkedWith = async (handle: WorkflowHandle) =>
    (await untilFlow(handle, ({ view }) => view.state === 'parked')).view.parked;
  const order = (handle: WorkflowHandle, action: string) =>
    handle.executeUpdate('resolve', { args: [{ action, note: 'seen', actor: 'ada' }] });

  test.each<[string, (reference: string) => unknown]>([
    [
      'in an envelope',
      (reference) => ({ event: 'settlement', data: { provider_reference_id: reference, status: 'COMPLETED' } }),
    ],
    [
      'with text where objects belong',
      () => ({ status: 'COMPLETED', failure_details: 'none', metadata: 'x', crypto_payment: [] }),
    ],
    ['with an empty type', () => ({ status: 'COMPLETED', webhook_type: '', timestamp: 'yesterday' })],
    ['with a number for a type', () => ({ status: 'COMPLETED', webhook_type: 7, kotani_reference_id: 12 })],
  ])('%s completes its flow, and the service is informed', async (_, bodyOf) => {
    const { reference, handle } = await tracked('odd');
    await settled(reference, bodyOf(reference));
    const { view } = (await handle.result()) as FlowReport;
    expect(view.state).toBe('completed');
    expect(entriesOf(view, 'event-applied', 'COMPLETED')).toMatchObject([{ by: 'provider' }]);
    expect(await serviceStatus(reference)).toBe('COMPLETED');
  });

  test('is passed on with its own facts, those of its failure and of its refund, and with no other member', async () => {
    const { reference, handle } = await tracked('details');
    const details = {
      settlement_details: { network: 'pix' },
      failure_details: { failure_stage: 'settlement' },
      refund_details: { refund_status: 'PENDING' },
      metadata: { branch: '12' },
    };
    const report = jest.spyOn(bench.deps.service, 'reportSettlement');
    await settled(reference, { status: 'COMPLETED', ...details, secret: { pin: '1' } });
    expect(((await handle.result()) as FlowReport).view.state).toBe('completed');
    const [sent] = report.mock.calls.at(-1) ?? [];
    jest.restoreAllMocks();
    expect(sent).toMatchObject({ provider_reference_id: reference, status: 'COMPLETED', ...details });
    expect(sent).not.toHaveProperty('secret');
  });

  test('is reported only if the transfer ends with it: a SETTLING that arrives late would set the service back', async () => {
    const { reference, handle } = await tracked('on-the-way');
    const before = await serviceStatus(reference);
    await settled(reference, { status: 'SETTLING' }, '', 'SETTLING');
    await noted(handle, 'event-applied', 'SETTLING');
    await bench.pass(MINUTE_MS);
    expect(await serviceStatus(reference)).toBe(before);
    await settled(reference, { status: 'COMPLETED' });
    expect(((await handle.result()) as FlowReport).view.state).toBe('completed');
    expect(await serviceStatus(reference)).toBe('COMPLETED');
  });

  test('is not reported by an attempt that was suspended, and was given up meanwhile: a later status may have been reported', async () => {
    const { inbox } = bench.store;
    const get = inbox.get.bind(inbox);
    const { reference, handle } = await tracked('suspended');
    const reading = jest.spyOn(inbox, 'get').mockImplementationOnce(async (id) => {
      const row = await get(id);
      suspendedMs += 11_000;
      return row;
    });
    const id = await settled(reference, { status: 'COMPLETED' });
    expect(((await handle.result()) as FlowReport).view.state).toBe('completed');
    const attempts = reading.mock.calls.filter(([read]) => read === id);
    jest.restoreAllMocks();
    expect(attempts).toHaveLength(2);
    expect(await serviceStatus(reference)).toBe('COMPLETED');
  });

  test('is not passed on under another status than the one as which it was taken', async () => {
    const { reference, handle } = await tracked('other-word');
    const before = await serviceStatus(reference);
    await settled(reference, { event: 'refund.completed', data: { status: 'COMPLETED' } }, '', 'REFUNDED');
    expect(await parkedWith(handle)).toMatchObject({
      reason: 'report_refused',
      evidence: { status: 'REFUNDED', httpStatus: null },
    });
    expect(await serviceStatus(reference)).toBe(before);
    await order(handle, 'mark-refunded');
    expect(((await handle.result()) as FlowReport).view.state).toBe('refunded');
  });

  test('parks with what is wrong, and is not sent, if what the service wants of it is not in its body', async () => {
    const { reference, handle } = await tracked('unsendable');
    const before = await serviceStatus(reference);
    const report = jest.spyOn(bench.deps.service, 'reportSettlement');
    report.mockRejectedValueOnce(
      new InvalidRequestError('reportSettlement', [{ path: 'crypto_payment', problem: 'is missing' }]),
    );
    await settled(reference, { status: 'COMPLETED' });
    expect(await parkedWith(handle)).toMatchObject({
      reason: 'report_refused',
      evidence: { httpStatus: null, message: expect.stringMatching(/crypto_payment/) },
    });
    expect(await serviceStatus(reference)).toBe(before);
    await order(handle, 'mark-completed');
    expect(((await handle.result()) as FlowReport).view.state).toBe('completed');
    jest.restoreAllMocks();
  });

  test('is found in the inbox if a person vouched for it, and its event has an id of its own', async () => {
    const { reference, handle } = await tracked('vouched');
    await settled(reference, { status: 'COMPLETED' }, '.vouched');
    expect(((await handle.result()) as FlowReport).view.state).toBe('completed');
    expect(await serviceStatus(reference)).toBe('COMPLETED');
  });

  test("parks where no report can be made, since no event has the service's own reference, and is not called failed", async () => {
    const reference = newReference('nameless');
    await bench.control('POST', '/faults', {
      operation: 'createBridgeDeposit',
      kind: 'answer-lost',
      first: 1,
      reference,
    });
    const handle = await bench.start(transferInput(reference));
    await untilFlow(handle, ({ view }) => view.stage === 'outcome-unknown');
    await handle.signal('events', [trusted('DEPOSIT_CONFIRMED')]);
    await untilFlow(handle, ({ view }) => view.stage === 'tracking');
    await settled(reference, { status: 'COMPLETED' });
    const parked = await parkedWith(handle);
    expect(parked).toMatchObject({ reason: 'report_refused', evidence: { status: 'COMPLETED', httpStatus: null } });
    await order(handle, 'mark-completed');
    expect(((await handle.result()) as FlowReport).view.state).toBe('completed');
  });

  test.each([
    ['is down', { kind: 'error-before', status: 503 }],
    ['does not let us in', { kind: 'unauthorized' }],
  ])('parks where the service %s for a quarter of an hour, goes on trying, and ends by itself', async (_, fault) => {
    await bench.control('POST', '/faults', { operation: 'reportSettlement', ...fault });
    const { reference, handle } = await tracked('unheard');
    await settled(reference, { status: 'COMPLETED' });
    await bench.pass(10 * MINUTE_MS);
    expect((await handle.query<FlowReport>('flow')).view.state).toBe('running');
    await bench.pass(10 * MINUTE_MS);
    expect(await parkedWith(handle)).toMatchObject({ reason: 'report_refused', evidence: { kind: 'not-taken' } });
    await bench.control('DELETE', '/faults');
    expect(((await handle.result()) as FlowReport).view.state).toBe('completed');
    expect(await serviceStatus(reference)).toBe('COMPLETED');
  });
});
