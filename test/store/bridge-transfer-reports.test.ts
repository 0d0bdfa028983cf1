import { randomUUID } from 'node:crypto';
import { ApplicationFailure } from '@temporalio/common';
import { describe, expect, it } from '@jest/globals';
import { createBridgeActivities } from '../../activities/bridge-transfer.js';
import { InvalidRequestError, NotSentError, RejectedError } from '../../src/service-client/index.js';
import type { Store } from '../../src/store/store.js';
import { newReference } from '../harness/references.js';
import { asActivity, depsOver, type Replaced } from './deciding-activities.js';
import { anEvent, withTemporaryStore } from './temporary-store.js';

let store: Store;
const activities = (service: Replaced['service'] = {}, more: Replaced = {}) =>
  createBridgeActivities(depsOver(store, { ...more, service }));

const REFUSAL = { httpStatus: 400, message: 'limit', fields: [], isRateExpired: false, isAboutReference: false };

describe('reportSettlement', () => {
  withTemporaryStore((opened) => (store = opened));
  interface Asked {
    readonly serviceReference?: string | null;
    readonly status?: string;
    readonly patienceMs?: number;
    readonly afterMs?: number;
    readonly service?: () => Promise<unknown>;
  }
  /** What is reported of a settlement with this body, and what comes of that. */
  const report = async (body: unknown, asked: Asked = {}) => {
    const { serviceReference = 'service-1', status = 'COMPLETED', patienceMs, afterMs = 0 } = asked;
    const reference = newReference('reported');
    const flowId = `bridge-transfer/${reference}`;
    const row = anEvent({ flowId, reference, status, source: 'settlement', contentHash: flowId, body });
    const id = randomUUID();
    await store.inbox.receive({ ...row, id });
    const sent: Record<string, unknown>[] = [];
    const made = activities({
      reportSettlement: async (given: never) => {
        sent.push(given);
        return (asked.service ?? (async () => ({})))();
      },
    });
    const order = { flowId, eventId: id, status, reference, serviceReference, patienceMs } as never;
    const outcome = await asActivity(() => made.reportSettlement(order), afterMs).catch((error: unknown) => error);
    return { outcome, sent, reference, receivedAt: (await store.inbox.get(id))?.receivedAt };
  };

  it("passes on the members of the provider's settlement in the spelling of the interface", async () => {
    const details = {
      crypto_payment: { chain: 'CELO', tx: '0x1' },
      settlement_details: { network: 'pix' },
      failure_details: { failure_stage: 'settlement' },
      refund_details: { refund_status: 'PENDING' },
      metadata: { branch: 12 },
    };
    const said = { webhook_type: ' settlement.update', status: ' completed', timestamp: '2026-01-02T03:04:05+02:00' };
    const body = { ...said, ...details, kotani_reference_id: 'theirs', provider_reference_id: 'x', secret: { pin: 1 } };
    const { outcome, sent, reference } = await report(body);
    expect(outcome).toEqual({ kind: 'reported' });
    expect(sent).toStrictEqual([
      {
        webhook_type: 'settlement.update',
        provider_reference_id: reference,
        kotani_reference_id: 'service-1',
        status: 'COMPLETED',
        timestamp: '2026-01-02T01:04:05.000Z',
        ...details,
      },
    ]);
  });

  it.each(['2026-01-02T03:04:05', '2026-01-02 03:04:05.000 UTC', '2026-01-02T05:04:05+0200'])(
    'passes on the time of a settlement in UTC, which a time without a zone is in: %s',
    async (timestamp) => {
      expect((await report({ status: 'COMPLETED', timestamp })).sent).toMatchObject([
        { timestamp: '2026-01-02T03:04:05.000Z' },
      ]);
    },
  );

  it.each<[string, object]>([
    ['that are missing', {}],
    ['that are null', { webhook_type: null, crypto_payment: null, metadata: null, timestamp: null }],
    [
      'of another form',
      { webhook_type: {}, crypto_payment: [], failure_details: 'none', refund_details: [{}], metadata: 7 },
    ],
    ['that are empty, or no time', { webhook_type: ' ', timestamp: 'yesterday', crypto_payment: '' }],
  ])('leaves out members %s, and has the time of receipt for a time that cannot be read', async (_, more) => {
    const { outcome, sent, receivedAt } = await report({ status: 'COMPLETED', ...more });
    expect(outcome).toEqual({ kind: 'reported' });
    expect(sent[0]?.['webhook_type']).toBe('settlement');
    expect(sent[0]?.['crypto_payment']).toEqual({});
    expect(sent[0]?.['timestamp']).toBe(new Date(receivedAt ?? '').toISOString());
    expect(Object.keys(sent[0] ?? {})).toHaveLength(6);
  });

  it("takes the service's own reference from the settlement, text or number, if the answer to the deposit was lost", async () => {
    const lost = { serviceReference: null };
    const named = await report({ status: 'COMPLETED', kotani_reference_id: 12 }, lost);
    expect(named.sent).toMatchObject([{ kotani_reference_id: '12' }]);
    const nameless = await report({ status: 'COMPLETED', kotani_reference_id: { id: 12 } }, lost);
    expect(nameless.sent).toEqual([]);
    expect(nameless.outcome).toEqual({
      kind: 'refused',
      httpStatus: null,
      message: expect.any(String),
    });
  });

  it.each([[{ status: 'FAILED' }], [{}], ['COMPLETED'], [null], [[{ status: 'COMPLETED' }]]])(
    'returns refused, without a call, for the body %j if the flow took it as COMPLETED',
    async (body) => {
      const { outcome, sent } = await report(body);
      expect(outcome).toMatchObject({ kind: 'refused', httpStatus: null });
      expect(sent).toEqual([]);
    },
  );

  it('returns refused with the HTTP status of the service, or without one if no request can be made of the body', async () => {
    const body = { status: 'COMPLETED' };
    const byService = await report(body, {
      service: () => Promise.reject(new RejectedError('reportSettlement', REFUSAL)),
    });
    expect(byService.outcome).toEqual({ kind: 'refused', httpStatus: 400, message: 'limit' });
    const unfit = new InvalidRequestError('reportSettlement', [{ path: 'crypto_payment', problem: 'is missing' }]);
    const byUs = await report(body, { service: () => Promise.reject(unfit) });
    expect(byUs.outcome).toEqual({ kind: 'refused', httpStatus: null, message: unfit.message });
  });

  it('fails as not_sent until the patience is over, then returns not-taken; without a patience it fails for ever', async () => {
    const service = () => Promise.reject(new NotSentError('reportSettlement', 'refused'));
    const tried = async (patienceMs?: number, afterMs?: number) =>
      (
        await report(
          { status: 'COMPLETED' },
          { service, ...(patienceMs && { patienceMs }), ...(afterMs && { afterMs }) },
        )
      ).outcome;
    const again = { type: 'not_sent', nonRetryable: false };
    expect(await tried(60_000, 59_999)).toMatchObject(again);
    expect(await tried(undefined, 600_000)).toMatchObject(again);
    expect(await tried(60_000, 60_000)).toEqual({ kind: 'not-taken', message: expect.stringMatching(/./) });
  });

  it('fails with a bug of ours, and with an error that no retry repairs, whatever the time', async () => {
    const service = () => Promise.reject(new TypeError('a bug'));
    const { outcome } = await report({ status: 'COMPLETED' }, { service, patienceMs: 60_000, afterMs: 60_000 });
    expect(outcome).toBeInstanceOf(TypeError);
    const final = ApplicationFailure.create({ type: 'invalid_input', message: 'no', nonRetryable: true });
    const ended = await report(
      { status: 'COMPLETED' },
      { service: () => Promise.reject(final), patienceMs: 60_000, afterMs: 60_000 },
    );
    expect(ended.outcome).toMatchObject({ type: 'invalid_input', nonRetryable: true });
  });

  it('fails, to be tried again, without the row of its event or a key that reads it, and returns refused for a body that was purged', async () => {
    const order = (eventId: string) =>
      ({ flowId: 'f', eventId, status: 'COMPLETED', reference: 'r', serviceReference: 's' }) as const;
    const once = (row: object | undefined) => {
      const inbox = { ...store.inbox, get: async () => row as never };
      const made = activities({}, { store: { ...store, inbox } });
      return asActivity(() => made.reportSettlement(order(randomUUID())));
    };
    await expect(once(undefined)).rejects.toMatchObject({ type: 'store_unavailable', nonRetryable: false });
    await expect(once({ unreadable: 'no key' })).rejects.toMatchObject({
      type: 'unreadable_event',
      nonRetryable: false,
    });
    expect(await once({ receivedAt: '2026-01-01T00:00:00Z' })).toMatchObject({
      kind: 'refused',
      httpStatus: null,
    });
  });
});
