import { randomUUID } from 'node:crypto';
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

describe("the report of a provider's settlement", () => {
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

  it('passes on what the provider said, member by member, in the spelling of the interface', async () => {
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

  it.each<[string, object]>([
    ['that are missing', {}],
    ['that are null', { webhook_type: null, crypto_payment: null, metadata: null, timestamp: null }],
    [
      'of another form',
      { webhook_type: {}, crypto_payment: [], failure_details: 'none', refund_details: [{}], metadata: 7 },
    ],
    ['that are empty, or no time', { webhook_type: ' ', timestamp: 'yesterday', crypto_payment: '' }],
  ])('leaves out members %s, and says when the settlement came', async (_, more) => {
    const { outcome, sent, receivedAt } = await report({ status: 'COMPLETED', ...more });
    expect(outcome).toEqual({ kind: 'reported' });
    expect(sent[0]?.['webhook_type']).toBe('settlement');
    expect(sent[0]?.['crypto_payment']).toEqual({});
    expect(sent[0]?.['timestamp']).toBe(new Date(receivedAt ?? '').toISOString());
    expect(Object.keys(sent[0] ?? {})).toHaveLength(6);
  });

  it("takes the service's own reference from the settlement if its answer was lost, also as a number", async () => {
    const lost = { serviceReference: null };
    const named = await report({ status: 'COMPLETED', kotani_reference_id: 12 }, lost);
    expect(named.sent).toMatchObject([{ kotani_reference_id: '12' }]);
    const nameless = await report({ status: 'COMPLETED', kotani_reference_id: { id: 12 } }, lost);
    expect(nameless.sent).toEqual([]);
    expect(nameless.outcome).toEqual({
      kind: 'refused',
      httpStatus: null,
      message: expect.stringContaining("service's own reference is not known"),
    });
  });

  it.each([[{ status: 'FAILED' }], [{}], ['COMPLETED'], [null], [[{ status: 'COMPLETED' }]]])(
    'is not made of the body %j if it was taken as COMPLETED',
    async (body) => {
      const { outcome, sent } = await report(body);
      expect(outcome).toMatchObject({ kind: 'refused', httpStatus: null });
      expect(sent).toEqual([]);
    },
  );

  it('says whether the service refused it, or whether it could not be made at all', async () => {
    const body = { status: 'COMPLETED' };
    const byService = await report(body, {
      service: () => Promise.reject(new RejectedError('reportSettlement', REFUSAL)),
    });
    expect(byService.outcome).toEqual({ kind: 'refused', httpStatus: 400, message: 'limit' });
    const unfit = new InvalidRequestError('reportSettlement', [{ path: 'crypto_payment', problem: 'is missing' }]);
    const byUs = await report(body, { service: () => Promise.reject(unfit) });
    expect(byUs.outcome).toEqual({ kind: 'refused', httpStatus: null, message: unfit.message });
  });

  it('is tried again until the patience is over, and then counts as not taken so far', async () => {
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

  it('lets an error of the program through, whatever the time', async () => {
    const service = () => Promise.reject(new TypeError('a bug'));
    const { outcome } = await report({ status: 'COMPLETED' }, { service, patienceMs: 60_000, afterMs: 60_000 });
    expect(outcome).toBeInstanceOf(TypeError);
  });

  it('waits for the row of its event, and for a key that reads it; a body that was purged is reported by no one', async () => {
    const order = (eventId: string) =>
      ({ flowId: 'f', eventId, status: 'COMPLETED', reference: 'r', serviceReference: 's' }) as const;
    const once = (row: object | undefined) => {
      const inbox = { ...store.inbox, get: async () => row as never };
      const made = activities({}, { store: { ...store, inbox } });
      return asActivity(() => made.reportSettlement(order(randomUUID())));
    };
    await expect(once(undefined)).rejects.toMatchObject({ type: 'store_unavailable', nonRetryable: false });
    await expect(once({ unreadable: 'no key' })).rejects.toMatchObject({ type: 'unreadable_event', message: 'no key' });
    expect(await once({ receivedAt: '2026-01-01T00:00:00Z' })).toMatchObject({
      kind: 'refused',
      message: expect.stringContaining('was purged'),
    });
  });
});
