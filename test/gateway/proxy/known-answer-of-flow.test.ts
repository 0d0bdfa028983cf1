import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Refusal } from '../../../src/gateway/http/refusal.js';
import { answerByState, answerOfFlow } from '../../../src/gateway/proxy/known-answer.js';
import type { MoneyRequest } from '../../../src/gateway/proxy/money-request.js';
import type { SubmitAnswer } from '../../../src/protocol/messages.js';
import type { Store } from '../../../src/store/store.js';
import { anEvent, makeTemporaryStore, type TemporaryStore } from '../../store/temporary-store.js';
import { answered, depsOf, keyOf, requestOf, reserved, sent, viewIn } from './answering.js';

const send = requestOf('sendCrypto', { cryptoAmount: 5.5 });

describe('the answer to a money POST', () => {
  let temporary: TemporaryStore;
  let store: Store;
  let view: ReturnType<typeof viewIn> | undefined;
  beforeEach(async () => {
    temporary = await makeTemporaryStore('libsql');
    store = await temporary.open();
    view = undefined;
  });
  afterEach(() => temporary.remove());

  const show = (...shown: Parameters<typeof viewIn>) => void (view = viewIn(...shown));
  const byFlow = (request: MoneyRequest, answer: SubmitAnswer) =>
    answered((reply) => answerOfFlow(depsOf(store, view), request, reply, answer));
  const byState = (request: MoneyRequest, refused?: { type: string; message: string }) =>
    answered((reply) => answerByState(depsOf(store, view), request, reply, refused));
  const own = { referenceId: 'r1', status: 'PENDING', cryptoAmount: '5.5', more: 1 };

  describe('of its flow', () => {
    it('is none if the flow has none', async () => {
      expect(await byFlow(send, { kind: 'none', reason: 'parked' })).toMatchObject({ status: 599, result: false });
    });

    it('is what the flow reported, if no claim has the raw one', async () => {
      expect(await byFlow(send, { kind: 'accepted', answer: own })).toMatchObject({
        status: 200,
        body: { success: true, data: { referenceId: 'r1', cryptoAmount: 5.5 } },
        result: true,
      });
      const refused = { kind: 'rejected', httpStatus: 422, message: 'No', code: null } as const;
      const said = await byFlow(send, refused);
      expect(said).toMatchObject({ status: 422, body: { success: false, message: 'No' }, result: true });
      expect(said.body).not.toHaveProperty('error_code');
    });

    it('is the raw one of its claim, and no refusal that a trusted event contradicts', async () => {
      await sent(store, send);
      const kept = { httpStatus: 422, contentType: 'application/json', body: '{"fee":1.50}' };
      await store.claims.recordRejection(keyOf(send), 'o', { httpStatus: 422, message: 'No' }, kept);
      const refused = { kind: 'rejected', httpStatus: 400, message: 'No', code: null } as const;
      expect(await byFlow(send, refused)).toMatchObject({
        status: 422,
        text: expect.stringContaining('1.50'),
        result: true,
      });
      show('running');
      await store.inbox.receive(anEvent({ flowId: send.address.flowId }));
      expect(await byFlow(send, refused)).toMatchObject({ status: 599, result: false });
    });
  });

  describe('by the state of its flow', () => {
    const refusedWith = (result: unknown) => {
      if (!(result instanceof Refusal)) throw new Error('no refusal');
      const { status, message, details, retryAfter } = result;
      return { status, message, details, retryAfter };
    };

    it('is no 404 if Temporal has no flow yet, and asks to send it again', async () => {
      expect(refusedWith((await byState(send)).result)).toEqual({
        status: 503,
        message: expect.any(String),
        details: { reference: 'r1', code: 'temporal_unavailable' },
        retryAfter: 5,
      });
    });

    it('is 202 while it is under way, with what is known', async () => {
      show('running');
      const { status, location, body } = await byState(send);
      expect([status, location]).toEqual([202, '/flows/crypto-send/r1']);
      expect(body).toEqual({
        success: true,
        message: expect.stringContaining('/flows/crypto-send/r1'),
        data: { referenceId: 'r1', state: 'running', stage: 'sent', serviceReference: 'svc-1' },
      });
      show('parked');
      expect((await byState(send)).body).toMatchObject({ data: { state: 'parked' } });
    });

    it('is not 202 if the flow did not take the order', async () => {
      show('running');
      expect(refusedWith((await byState(send, { type: 'flow_ended', message: 'It is ending.' })).result)).toEqual({
        status: 503,
        message: 'It is ending.',
        details: { reference: 'r1', code: 'flow_ended' },
        retryAfter: 5,
      });
    });

    it('is how it ended when nothing was carried out, and 400 if the request itself was at fault', async () => {
      for (const [reason, status] of [
        ['invalid_input', 400],
        ['quote_rejected', 400],
        ['cancelled_before_sending', 409],
      ] as const) {
        show('failed', { reason, detail: 'No funds.' });
        expect(refusedWith((await byState(send)).result)).toEqual({
          status,
          message: expect.stringContaining('No funds.'),
          details: { reference: 'r1', code: reason },
          retryAfter: undefined,
        });
      }
      for (const state of ['expired', 'cancelled'] as const) {
        show(state);
        expect(refusedWith((await byState(send)).result)).toEqual({
          status: 409,
          message: expect.stringContaining(state),
          details: { reference: 'r1', code: undefined },
          retryAfter: undefined,
        });
      }
    });

    it('is that of the service once the flow is proven done, though its answer never came', async () => {
      for (const state of ['completed', 'refunded'] as const) {
        show(state);
        for (const refused of [undefined, { type: 'flow_ended', message: 'It has ended.' }]) {
          expect(await byState(send, refused)).toMatchObject({
            status: 200,
            body: { success: true, data: { referenceId: 'r1' } },
          });
        }
      }
    });

    it('is that of its claim, whatever the flow shows', async () => {
      show('failed');
      await sent(store, send);
      await store.claims.recordAnswer(keyOf(send), own);
      expect(await byState(send)).toMatchObject({ status: 200, body: { data: { referenceId: 'r1' } } });
    });

    const pay = requestOf('payInvoice');
    it('does not call an invoice paid by this order if no POST of it can have been sent', async () => {
      const paid = { status: 200, body: { success: true } };
      const byAnother = {
        status: 409,
        message: expect.any(String),
        details: { reference: 'r1', code: 'paid_by_another_way' },
        retryAfter: undefined,
      };
      show('completed');
      expect(refusedWith((await byState(pay)).result)).toEqual(byAnother);
      show('refunded');
      expect(refusedWith((await byState(pay)).result)).toEqual(byAnother);
      show('running');
      expect((await byState(pay)).status).toBe(202);
      show('completed');
      await reserved(store, pay);
      expect(refusedWith((await byState(pay)).result)).toEqual(byAnother);
      await store.claims.markSending(keyOf(pay), 'o');
      expect(await byState(pay)).toMatchObject(paid);
      const order = { actor: 'ann', note: 'not there' };
      await store.claims.closeNotExecuted(keyOf(pay), order);
      expect(refusedWith((await byState(pay)).result)).toEqual(byAnother);
    });
  });
});
