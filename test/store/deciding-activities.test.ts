import { describe, expect, it } from '@jest/globals';
import { ApplicationFailure } from '@temporalio/common';
import { createActivities, createCallbackActivities } from '../../activities/index.js';
import { pinOf, verbatim } from '../../activities/claims.js';
import { lookUpRecord } from '../../activities/status-lookups.js';
import { NotSentError, RejectedError } from '../../src/service-client/index.js';
import { BridgeTransferInput } from '../../src/flows/bridge-transfer.js';
import type { Store } from '../../src/store/store.js';
import { transferInput } from '../harness/inputs.js';
import cryptoSend from '../kinds/crypto-send.js';
import { newReference } from '../harness/references.js';
import { asActivity, depsOver, type Replaced } from './deciding-activities.js';
import { anEvent, withTemporaryStore } from './temporary-store.js';

describe('the activities that decide about money', () => {
  let store: Store;
  withTemporaryStore((opened) => (store = opened));
  const activities = (replaced: Replaced) => createActivities(depsOver(store, replaced));

  describe('a lookup of an unknown outcome', () => {
    const WINDOW_MS = 68_000;
    const notFound = () =>
      Promise.reject(
        new RejectedError('getCryptoSend', {
          httpStatus: 404,
          message: 'no such transaction',
          fields: [],
          isRateExpired: false,
          isAboutReference: false,
          saysNoRecord: true,
        }),
      );
    const record = { status: 'PENDING', referenceId: 'r', cryptoAmount: 1 };
    /** The result if the service has the record only from the nth query on. */
    const settled = async (shownAt: number, afterMs: number, missingAfterMs = 0) => {
      const reference = newReference('missed');
      let asked = 0;
      const made = activities({
        service: { getCryptoSend: () => ((asked += 1) < shownAt ? notFound() : Promise.resolve(record)) },
      });
      const claim = {
        operation: 'sendCrypto' as const,
        reference,
        flowId: `crypto-send/${reference}`,
        fingerprint: 'f',
        pin: await pinOf({ store, account: 'default' }),
      };
      const order = { claim, expect: {}, fixed: {}, saidToExist: false, windowMs: WINDOW_MS, timeScale: 0.001 };
      const outcome = await asActivity(() => made.settleUnknown(order), afterMs, missingAfterMs).catch(
        (error: unknown) => error,
      );
      return { outcome, asked };
    };

    it('says that the service does not have it only after three misses, past its window', async () => {
      expect(await settled(4, WINDOW_MS)).toEqual({ outcome: { claim: 'sending', lookup: 'absent' }, asked: 3 });
    });

    it.each([2, 3])('takes what the service shows at question %d, past its window', async (shownAt) => {
      expect(await settled(shownAt, WINDOW_MS)).toMatchObject({
        outcome: { lookup: 'shown', answer: expect.anything() },
      });
    });

    it('says nothing after a miss inside its window', async () => {
      const { outcome, asked } = await settled(4, WINDOW_MS - 1);
      expect(outcome).toBeInstanceOf(ApplicationFailure);
      expect(outcome).toMatchObject({ type: 'not_yet', nonRetryable: false });
      expect(asked).toBe(1);
    });

    it('proves nothing by its misses after an outage in its window, which begins anew only once', async () => {
      const outageMs = WINDOW_MS + 1;
      const before = await settled(9, 2 * WINDOW_MS - 1, outageMs);
      expect(before.outcome).toMatchObject({ type: 'not_yet', nonRetryable: false });
      const { outcome } = await settled(9, 2 * WINDOW_MS, outageMs);
      expect(outcome).toMatchObject({
        claim: 'sending',
        lookup: 'cannot-tell',
        why: expect.stringContaining('did not answer for the whole settle window'),
      });
    });
  });

  describe("a report of the provider's settlement", () => {
    const PATIENCE_MS = 900_000;
    /** How it ends at a moment after it was first tried. */
    const reported = async (thrown: Error, afterMs: number, patienceMs: number | undefined = PATIENCE_MS) => {
      const reference = newReference('reported');
      const flowId = `bridge-transfer/${reference}`;
      const { id } = await store.inbox.receive(
        anEvent({ source: 'settlement', flowId, reference, status: 'COMPLETED', body: { status: 'COMPLETED' } }),
      );
      const made = activities({ service: { reportSettlement: () => Promise.reject(thrown) } });
      const about = { flowId, eventId: id, status: 'COMPLETED', reference, serviceReference: 's-1' } as const;
      const order = patienceMs === 0 ? about : { ...about, patienceMs };
      return asActivity(() => made.reportSettlement(order), afterMs);
    };
    const away = new NotSentError('reportSettlement', 'refused');

    it('is tried on until its patience is over, and then left to a person, with what was in the way', async () => {
      await expect(reported(away, PATIENCE_MS - 1)).rejects.toMatchObject({ type: 'not_sent', nonRetryable: false });
      expect(await reported(away, PATIENCE_MS)).toEqual({ kind: 'not-taken', message: away.message });
    });

    it('is tried on for ever once a person has been asked', async () => {
      await expect(reported(away, 10 * PATIENCE_MS, 0)).rejects.toMatchObject({ type: 'not_sent' });
    });

    it('is not called not taken for a bug of ours, nor for an error that no further try can repair', async () => {
      const bug = new TypeError('x is undefined');
      await expect(reported(bug, PATIENCE_MS)).rejects.toMatchObject({ message: bug.message });
      const final = ApplicationFailure.create({ type: 'invalid_input', message: 'no', nonRetryable: true });
      await expect(reported(final, PATIENCE_MS)).rejects.toMatchObject({ type: 'invalid_input', nonRetryable: true });
    });
  });

  it('the record of a payment that others may have made is no answer to one that was never sent, whose claim is closed', async () => {
    const reference = newReference('theirs');
    const record = { referenceId: reference, status: 'SUCCESSFUL', amount: '1000.5', currency: 'KES' };
    const made = activities({ service: { getInvoicePayment: () => Promise.resolve(record) } });
    const pin = await pinOf({ store, account: 'default' });
    const flowId = `invoice-payment/${reference}`;
    const claim = { operation: 'payInvoice' as const, reference, flowId, fingerprint: 'f', pin };
    const expect_ = { paidAmount: '1000.5', paidCurrency: 'KES' };
    const question = { claim, expect: expect_, fixed: {}, saidToExist: false, othersPay: true };
    const look = () => asActivity(() => made.lookAtPost(question));
    expect(await look()).toEqual({ claim: 'void', lookup: 'shown', neverSent: true });
    expect(await look()).toMatchObject({ claim: 'void', lookup: 'cannot-tell', neverSent: true });
  });

  it('a record is missing only if the service says so three times in a row', async () => {
    const noRecord = { httpStatus: 404, message: 'none', fields: [], isRateExpired: false, isAboutReference: false };
    const looked = async (shownAt: number) => {
      let asked = 0;
      const { service } = depsOver(store, {
        service: {
          getCryptoSend: () => {
            asked += 1;
            if (asked >= shownAt) return Promise.resolve({ status: 'PENDING', referenceId: 'r', cryptoAmount: 1 });
            return Promise.reject(new RejectedError('getCryptoSend', { ...noRecord, saysNoRecord: true }));
          },
        },
      });
      return { ...(await lookUpRecord({ service, timeScale: 0.001 }, 'sendCrypto', 'r')), asked };
    };
    expect(await looked(3)).toEqual({ says: 'shown', status: 'PENDING', asked: 3 });
    expect(await looked(4)).toEqual({ says: 'absent', asked: 3 });
  });

  describe('a refund of ours', () => {
    const refund = async (
      status: string | null,
      proof: 'capability' | null,
      by: 'input' | 'person' = 'input',
      isJudged = false,
    ) => {
      const reference = newReference('refund');
      const flowId = `bridge-transfer/${reference}`;
      const { id } = await store.inbox.receive(anEvent({ flowId, reference, status, proof, contentHash: flowId }));
      let sent = 0;
      const made = activities({
        service: { sendCrypto: () => Promise.resolve({ n: (sent += 1) }) },
      });
      const terms = { receiverAddress: '0xa', chain: 'CELO', token: 'USDC', cryptoAmount: '7.5' };
      const pin = await pinOf({ store, account: 'default' });
      const { outcome } = await asActivity(() =>
        made.submitRefund({
          flowId,
          by,
          reviewedEventIds: isJudged ? [id] : [],
          reference: `${reference}.refund`,
          pin,
          ...terms,
        }),
      );
      return { kind: outcome.kind, sent };
    };

    it.each([
      ['trusted', 'capability', 'person'],
      ['untrusted', null, 'input'],
    ] as const)(
      'is not sent against a %s FAILED that its flow has not reviewedEventIds: it may say that the service has refunded it',
      async (_, proof, by) => {
        expect(await refund('FAILED', proof, by)).toEqual({ kind: 'contradicted', sent: 0 });
        expect(await refund('FAILED', proof, by, true)).toEqual({ kind: 'accepted', sent: 1 });
      },
    );

    it.each([
      ['PROCESSING', 'PROCESSING'],
      ['nothing', null],
    ])(
      'is not sent against a trusted event that says %s, and that its flow has not reviewedEventIds: it may say that less came in',
      async (_, status) => {
        expect(await refund(status, 'capability', 'person')).toEqual({ kind: 'contradicted', sent: 0 });
        expect(await refund(status, 'capability', 'person', true)).toEqual({ kind: 'accepted', sent: 1 });
      },
    );

    it.each(['COMPLETED', 'REFUNDED'])('is not sent once a trusted %s lies in the inbox', async (status) => {
      expect(await refund(status, 'capability')).toEqual({ kind: 'contradicted', sent: 0 });
    });

    it.each(['COMPLETED', 'REFUNDED'])(
      'is not sent by the input alone once an untrusted %s lies there, and sent if a person orders it',
      async (status) => {
        expect(await refund(status, null)).toEqual({ kind: 'contradicted', sent: 0 });
        expect(await refund(status, null, 'person')).toEqual({ kind: 'accepted', sent: 1 });
      },
    );
  });

  describe('a deposit', () => {
    /** Its quote may be used for 50 s; the clock moves by so much at each question. */
    const deposit = async (reference: string, clock: () => number, scheduledAfterMs = 0) => {
      let sent = 0;
      const made = activities({
        monotonicMs: clock,
        service: { createBridgeDeposit: () => Promise.resolve({ n: (sent += 1) }) },
      });
      const order = {
        flowId: `bridge-transfer/${reference}`,
        fingerprint: 'f',
        pin: await pinOf({ store, account: 'default' }),
        input: BridgeTransferInput.parse(transferInput(reference)),
        rateId: 'rate-1',
        quotedAtMs: Date.UTC(2026, 0, 1),
        usableMs: 50_000,
        reviewedEventIds: [],
      };
      const outcome = await asActivity(() => made.submitBridgeDeposit(order), scheduledAfterMs);
      return { outcome, sent };
    };
    const standing = () => 0;
    const expired = { outcome: { kind: 'quote-expired', by: 'us' }, sent: 0 };

    it('is sent inside the life of its quote', async () => {
      expect(await deposit(newReference('fresh'), standing, 49_999)).toMatchObject({ sent: 1 });
    });

    it('is not sent by a retry that comes after it', async () => {
      expect(await deposit(newReference('retried'), standing, 50_000)).toEqual(expired);
    });

    it('is not sent if the life ends between two readings of our own clock', async () => {
      for (const endsAt of [1, 2]) {
        let readings = -1;
        const clock = () => ((readings += 1) >= endsAt ? 1_000 : 0);
        expect(await deposit(newReference('slow'), clock, 49_000)).toEqual(expired);
      }
    });
  });

  it('waits of another length are refused if the service is not on loopback', async () => {
    const reference = newReference('scaled');
    const flowId = `bridge-transfer/${reference}`;
    const made = activities({ serviceIsOnLoopback: false });
    const prepared = (more: object) =>
      asActivity(() =>
        made.prepareBridgeTransfer({ flowId, input: transferInput(reference, { rate_id: 'r', ...more }) }),
      );
    await expect(prepared({ timeScale: 0.5 })).rejects.toMatchObject({
      type: 'invalid_input',
      message: expect.stringContaining('only with a service on loopback'),
    });
    expect(await prepared({ timeScale: 1 })).toMatchObject({ input: { timeScale: 1 } });
  });

  it('a step that its kind does not have ends the flow, and is not tried for ever', async () => {
    const reference = newReference('no-step');
    const pin = await pinOf({ store, account: 'default' });
    const order = { flowId: `crypto-send/${reference}`, step: 'resend', input: cryptoSend.input(reference), pin };
    const ends = { type: 'invalid_input', nonRetryable: true, message: expect.stringContaining('no step "resend"') };
    await expect(asActivity(() => activities({}).describeStep(order))).rejects.toMatchObject(ends);
  });

  it('another send may be ordered without a claim in the own epoch: nothing was ever sent', async () => {
    const reference = newReference('never-reserved');
    const pin = await pinOf({ store, account: 'default' });
    const claim = { operation: 'sendCrypto' as const, reference, flowId: `crypto-send/${reference}`, fingerprint: 'f' };
    const ordered = (epoch: number) => {
      const order = { ...claim, pin: { ...pin, epoch }, order: { actor: 'ann', note: 'not there' } };
      return asActivity(() => activities({}).orderSendAgain(order));
    };
    expect(await ordered(pin.epoch)).toBe(true);
    // Of an earlier epoch its claim may have been lost with the store.
    expect(await ordered(pin.epoch - 1)).toBe(false);
  });

  it('an answer is kept for the caller byte for byte, with its content type, unless it is large or no text', () => {
    const kept = (body: Uint8Array, headers: Record<string, string> = {}) =>
      verbatim({ httpStatus: 201, headers, bytes: body });
    const text = (length: number) => Buffer.from('x'.repeat(length));
    const html = { httpStatus: 201, contentType: 'text/html', body: 'xx' };
    expect(kept(text(2), { 'content-type': 'text/html' })).toEqual(html);
    expect(kept(text(2))).toEqual({ ...html, contentType: 'application/json' });
    expect(kept(text(65_536))?.body).toHaveLength(65_536);
    expect(kept(text(65_537))).toBeUndefined();
    expect(kept(Uint8Array.of(0xff))).toBeUndefined();
  });

  it('only a 2xx of the receiver delivers a callback', async () => {
    const notification = { id: 'n', change: { timestamp: 't' }, skipped: 0 } as never;
    const target = { flowId: 'f', url: 'https://shop.example/', timeScale: 1, notification, triedForMs: 60_000 };
    const answered = (httpStatus: number) => {
      const callbacks = { problemOf: () => undefined, send: async () => ({ httpStatus, retryAfter: undefined }) };
      const made = createCallbackActivities({ ...depsOver(store, {}), callbacks });
      return asActivity(() => made.deliverCallback(target));
    };
    for (const status of [200, 204, 299]) expect(await answered(status)).toMatchObject({ httpStatus: status });
    for (const status of [199, 301, 302, 304, 400, 500]) {
      await expect(answered(status)).rejects.toMatchObject({ type: 'callback_not_delivered', nonRetryable: false });
    }
  });
});
