import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import { pino } from 'pino';
import { eventOfRow } from '../../src/flows/event-of-row.js';
import { labelCallback } from '../../src/gateway/inbound/match-webhook.js';
import { markLate } from '../../src/gateway/dispatch/deliver-batch.js';
import type { OperationName } from '../../src/contract/index.js';
import { UnknownOutcomeError } from '../../src/service-client/index.js';
import type { InboxRow } from '../../src/protocol/events.js';
import type { FlowFacts } from '../../src/temporal/flow-handle.js';
import { trusted } from '../harness/inputs.js';
import { newReference } from '../harness/references.js';
import { untilFlow } from '../harness/reports.js';
import bankWithdrawal from '../kinds/bank-withdrawal.js';
import bridgeTransfer from '../kinds/bridge-transfer.js';
import cryptoSend from '../kinds/crypto-send.js';
import { ended, openDecisionBench, refused, resolve, TIME_SCALE } from './bench.js';

const LONG = { timeScale: TIME_SCALE, deadlineSeconds: 360_000 };

/** What a proven callback at a flow's own URL names, and what it is to everyone who judges it. */
const ROWS: readonly [what: string, names: (ours: string) => object, is: 'ours' | 'differs'][] = [
  ['names no reference', () => ({}), 'ours'],
  ['names ours as referenceId', (ours) => ({ referenceId: ours }), 'ours'],
  ['names ours as reference_id', (ours) => ({ reference_id: ours }), 'ours'],
  ['names ours as provider_reference_id', (ours) => ({ provider_reference_id: ours }), 'ours'],
  ['names ours with blanks around it', (ours) => ({ reference_id: ` ${ours}\n` }), 'ours'],
  ['names ours beside another as referenceId', (ours) => ({ referenceId: 'other', reference_id: ours }), 'ours'],
  ['names ours beside another as reference_id', (ours) => ({ reference_id: 'other', referenceId: ours }), 'ours'],
  ['names ours beside another as provider_reference_id', (ours) => ({ provider_reference_id: 'other', reference_id: ours }), 'ours'], // prettier-ignore
  ['names another as referenceId', () => ({ referenceId: 'other' }), 'differs'],
  ['names another as reference_id', () => ({ reference_id: 'other' }), 'differs'],
  ['names another as provider_reference_id', () => ({ provider_reference_id: 'other' }), 'differs'],
  ['names a reference that cannot be read', () => ({ reference_id: { id: 'other' } }), 'differs'],
];

const KINDS = {
  'bank-withdrawal': { success: 'SUCCESSFUL', inputOf: bankWithdrawal.input },
  'crypto-send': { success: 'SUCCESSFUL', inputOf: cryptoSend.input },
  'bridge-transfer': { success: 'COMPLETED', inputOf: bridgeTransfer.input },
} as const;
type Kind = keyof typeof KINDS;
const of = (rows: typeof ROWS) =>
  (Object.keys(KINDS) as Kind[]).flatMap((kind) => rows.map((row) => [kind, ...row] as const));
/** One of each sort goes through whole flows. */
const PLAYED = ROWS.filter((_, at) => [0, 5, 8, 11].includes(at));

let decisions: Awaited<ReturnType<typeof openDecisionBench>>;
/** What the service does with a POST, and what happens before its answer. */
const service = { answer: 'executed' as 'executed' | 'refused' | 'lost', meanwhile: async (_reference: string): Promise<unknown> => undefined }; // prettier-ignore
const posted: string[] = [];
beforeAll(async () => {
  const post = async <Answer>(name: OperationName, reference: string, send: () => Promise<Answer>): Promise<Answer> => {
    posted.push(reference);
    await service.meanwhile(reference);
    if (service.answer === 'lost') throw new UnknownOutcomeError(name, 'timeout');
    if (service.answer === 'executed') return send();
    throw refused(name);
  };
  decisions = await openDecisionBench((real) => ({
    createBankWithdrawal: (body) =>
      post('createBankWithdrawal', body.referenceId, () => real.createBankWithdrawal(body)),
    sendCrypto: (body) => post('sendCrypto', body.referenceId, () => real.sendCrypto(body)),
    createBridgeDeposit: (body) => post('createBridgeDeposit', body.provider_reference_id, () => real.createBridgeDeposit(body)), // prettier-ignore
  }));
});
afterEach(() => void Object.assign(service, { answer: 'executed', meanwhile: () => Promise.resolve() }));
afterEach(() => decisions.bench.terminateAll());
afterAll(() => decisions.close());

/** It is in the inbox, as the gateway stores it, and was never delivered. */
async function comes(kind: Kind, reference: string, names: (ours: string) => object): Promise<InboxRow> {
  const flowId = `${kind}/${reference}`;
  const body = { status: KINDS[kind].success, ...names(reference) };
  const { id } = await decisions.store.inbox.receive({
    id: randomUUID(),
    source: 'callback',
    proof: 'capability',
    contentHash: randomUUID(),
    body,
    ...labelCallback(kind, reference, flowId, body),
  });
  return (await decisions.store.inbox.get(id))!;
}

describe.each(of(PLAYED))('a proven callback at the URL of a %s that %s', (kind, _what, names, is) => {
  const start = (reference: string) =>
    decisions.bench.startFlow(kind, reference, { ...KINDS[kind].inputOf(reference), ...LONG });
  /** What becomes of the flow: it takes the event for its own, or asks a person about it with both sides. */
  const judged = async (handle: WorkflowHandle, reference: string) => {
    const { view } = await untilFlow(
      handle,
      ({ view: { parked, outcome, stage } }) => parked !== null || outcome !== null || stage === 'tracking',
    );
    await handle.terminate().catch(() => undefined);
    if (is === 'ours') return expect(view.parked?.reason ?? view.outcome?.state ?? view.stage).not.toBe('failed');
    expect(view.parked).toMatchObject({
      reason: 'event_mismatch',
      evidence: { differs: ['reference'], ours: { reference } },
    });
  };

  it('holds back the first send, in its claim as well as in its flow', async () => {
    const reference = newReference('guard');
    await comes(kind, reference, names);
    const handle = await start(reference);
    await judged(handle, reference);
    expect(posted).not.toContain(reference);
  });

  it('keeps a refused POST from ending its flow as refused', async () => {
    const reference = newReference('end');
    service.answer = 'refused';
    service.meanwhile = () => comes(kind, reference, names);
    const handle = await start(reference);
    const { view } = await untilFlow(handle, ({ view: { parked, outcome, stage } }) => parked !== null || outcome !== null || stage === 'tracking'); // prettier-ignore
    expect(view.outcome?.reason).not.toBe('rejected_by_service');
    await judged(handle, reference);
  });

  it('has an order to close the POST as not executed refused', async () => {
    const reference = newReference('order');
    service.answer = 'lost';
    const handle = await start(reference);
    await untilFlow(handle, ({ view }) => view.parked !== null);
    await comes(kind, reference, names);
    await expect(resolve(handle, 'close-not-executed')).rejects.toThrow();
    const { view } = await untilFlow(handle, (report) => report.view.parked?.reason !== 'not_found_at_service' && report.view.parked?.reason !== 'unknown_outcome'); // prettier-ignore
    expect(view.outcome?.reason).not.toBe('not_executed');
    const [claim] = await decisions.store.claims.ofFlow(`${kind}/${reference}`);
    expect(claim?.phase).not.toBe('void');
    await judged(handle, reference);
  });
});

describe.each(of(ROWS))('a row of the inbox of a %s that %s', (kind, _what, names, is) => {
  it('is the same event to its flow, to the gateway that delivers it, and to a person who replays it with trust', async () => {
    const row = await comes(kind, newReference('read'), names);
    for (const proof of ['capability', 'person'] as const) {
      const event = eventOfRow(`${kind}/${row.reference}`, { ...row, proof });
      expect(event).toMatchObject({ trusted: true, proof, status: KINDS[kind].success });
      expect(event?.facts['reference']).toEqual(is === 'ours' ? undefined : expect.any(String));
    }
  });

  it('raises an alarm if it comes after the flow has ended as failed', async () => {
    const row = await comes(kind, newReference('late'), names);
    const opened: unknown[] = [];
    await markLate(
      {
        inbox: decisions.store.inbox,
        matters: { open: async (_id: string, content: unknown) => void opened.push(content) },
        logger: pino({ enabled: false }),
      },
      [row],
      { flowId: row.flowId, state: 'failed' } as FlowFacts,
    );
    expect(opened).toMatchObject([{ kind: 'late_event_contradicts', eventId: row.id }]);
  });
});

describe.each(Object.keys(KINDS) as Kind[])('a callback at the URL of a %s that a person dismisses', (kind) => {
  it('leaves the POST unsent that it held back: it can be closed as not executed', async () => {
    const reference = newReference('dismissed');
    await comes(kind, reference, () => ({ reference_id: 'other' }));
    const input = { ...KINDS[kind].inputOf(reference), ...LONG };
    const handle = await decisions.bench.startFlow(kind, reference, input);
    await untilFlow(handle, ({ view }) => view.parked?.reason === 'event_mismatch');
    await resolve(handle, 'dismiss-event');
    await untilFlow(handle, ({ view }) => view.parked !== null && view.parked.reason !== 'event_mismatch');
    await resolve(handle, 'close-not-executed');
    expect((await ended(handle)).outcome).toMatchObject({ state: 'failed', reason: 'not_executed' });
    expect(posted).not.toContain(reference);
  });
});

describe('a refund that a person orders', () => {
  it('is asked about again if a callback at its own URL names another reference, and is sent once that is dismissed', async () => {
    const reference = newReference('refund-now');
    const handle = await decisions.bench.start({ ...bridgeTransfer.input(reference), ...LONG, deadlineSeconds: 6_000 });
    await untilFlow(handle, ({ view }) => view.stage === 'tracking');
    const failure = { failureStage: 'settlement', refundAnnounced: 'true' };
    await handle.signal('events', [trusted('FAILED', { facts: failure })]);
    await decisions.bench.pass(60_000);
    await untilFlow(handle, ({ view }) => view.parked?.reason === 'refund_needed');
    await comes('bridge-transfer', reference, () => ({ reference_id: 'other' }));
    await expect(resolve(handle, 'refund-now')).rejects.toThrow();
    await untilFlow(handle, ({ view }) => view.parked?.reason === 'event_mismatch');
    await resolve(handle, 'dismiss-event');
    await untilFlow(handle, ({ view }) => view.parked?.reason === 'refund_needed');
    await resolve(handle, 'refund-now');
    await untilFlow(handle, ({ view }) => view.timeline.some(({ code }) => code === 'refund-accepted'));
    expect(await decisions.executions('sendCrypto', `${reference}.refund`)).toBe(1);
    await handle.terminate().catch(() => undefined);
  });
});
