import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createKeyring } from '../../../src/keys/index.js';
import { Refusal } from '../../../src/gateway/http/refusal.js';
import { answerOfClaim, claimOf } from '../../../src/gateway/proxy/known-answer.js';
import type { MoneyRequest } from '../../../src/gateway/proxy/money-request.js';
import type { Claim } from '../../../src/store/claim.js';
import type { Store } from '../../../src/store/store.js';
import { anEvent, keyring, makeTemporaryStore, type TemporaryStore } from '../../store/temporary-store.js';
import { answered, depsOf, keyOf, requestOf, sent, viewIn } from './answering.js';

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
  const deps = () => depsOf(store, view);
  const byClaim = (request: MoneyRequest, claim?: Partial<Claim>) =>
    answered((reply) => answerOfClaim(deps(), reply, request, claim as Claim | undefined));
  const own = { referenceId: 'r1', status: 'PENDING', cryptoAmount: '5.5', more: 1 };

  describe('from its claim', () => {
    it("is the service's own, byte for byte, with the address of the flow", async () => {
      const kept = { httpStatus: 201, contentType: 'application/json; charset=latin1', body: '{"n": 1.50}' };
      expect(await byClaim(send, { phase: 'answered', answer: own, kept })).toMatchObject({
        status: 201,
        location: '/flows/crypto-send/r1',
        type: kept.contentType,
        text: kept.body,
        result: true,
      });
    });

    it("repeats the caller's own callback URL, and none of ours", async () => {
      const ours = `https://towline.example/callbacks/bridge-transfer/r1/${'a'.repeat(43)}`;
      const bridge = requestOf('createBridgeDeposit');
      const body = JSON.stringify({ data: { callback_url: ours } });
      const kept = { httpStatus: 200, contentType: 'application/json', body };
      const { body: shown } = await byClaim(bridge, { phase: 'answered', kept });
      expect(shown).toEqual({ data: { callback_url: 'https://shop.example/callbacks/of-ours' } });
    });

    it('has the types of the interface if only its content was kept, and a message of its own if it has one', async () => {
      const { status, body } = await byClaim(send, { phase: 'answered', answer: own });
      expect([status, body]).toEqual([
        200,
        { success: true, message: 'Accepted by the service', data: { ...own, cryptoAmount: 5.5 } },
      ]);
      const said = (message: unknown) => byClaim(send, { phase: 'answered', answer: { ...own, message } });
      expect((await said('On its way')).body).toMatchObject({ message: 'On its way' });
      for (const message of ['', 7, null]) {
        expect((await said(message)).body).toMatchObject({ message: 'Accepted by the service' });
      }
    });

    it.each([
      ['sendCrypto', { referenceId: 'r1' }],
      ['payInvoice', { referenceId: 'r1' }],
    ] as const)('names only the reference if the answer was lost: %s', async (name, data) => {
      const { status, body, location } = await byClaim(requestOf(name), { phase: 'answered', answer: 'another shape' });
      expect([status, location]).toEqual([200, `/flows/${requestOf(name).address.kind}/r1`]);
      expect(body).toEqual({ success: true, message: expect.any(String), data });
    });

    it("is that it was executed, or refused, when the service's own was erased", async () => {
      const executed = await byClaim(send, { phase: 'answered', erased: true });
      expect(executed).toMatchObject({ status: 200, location: '/flows/crypto-send/r1', result: true });
      expect(executed.body).toEqual({
        success: true,
        message: expect.stringContaining('erased'),
        data: { referenceId: 'r1' },
      });
      const refused = await byClaim(send, { phase: 'rejected', erased: true });
      expect(refused).toMatchObject({ status: 400, result: true });
      expect(refused.body).toMatchObject({ success: false, towline: { by: 'service', code: 'erased' } });
    });

    const towline = { by: 'service', reference: 'r1', flow: '/flows/crypto-send/r1' };
    it("is the service's refusal, with what the gateway knows beside it, and its numbers as they were written", async () => {
      const refusal = (body: string) =>
        byClaim(send, { phase: 'rejected', kept: { httpStatus: 422, contentType: 'application/json', body } });
      const { status, text, type } = await refusal('{"message":"No","fee":1.50}');
      expect([status, type]).toEqual([422, expect.stringMatching(/^application\/json/)]);
      expect(text).toBe(`{"message":"No","fee":1.50,"towline":${JSON.stringify(towline)}}`);
      for (const body of ['["No"]', '"No"', 'null', '7', '<h1>No</h1>', '{"cut', '']) {
        expect(await refusal(body)).toMatchObject({ status: 422, text: body, result: true });
      }
    });

    it('is a refusal in the words of the interface if the raw one was not kept', async () => {
      const refusal = (rejection: Claim['rejection']) =>
        byClaim(send, { phase: 'rejected', ...(rejection && { rejection }) });
      expect((await refusal({ httpStatus: 422, message: 'No', code: 'WORD' })).body).toEqual({
        success: false,
        message: 'No',
        error_code: 'WORD',
        data: { errors: [] },
        towline,
      });
      expect((await refusal({ httpStatus: 400, message: '' })).body).toEqual({
        success: false,
        message: expect.stringMatching(/./),
        data: { errors: [] },
        towline,
      });
      for (const [httpStatus, shown] of [
        [200, 200],
        [199, 400],
        [0, 400],
        [599, 599],
        [600, 400],
      ] as const) {
        expect((await refusal({ httpStatus, message: 'No' })).status).toBe(shown);
      }
      expect(await refusal(undefined)).toMatchObject({ status: 400, result: true });
    });

    it('is none while nothing is known, or was never sent', async () => {
      for (const phase of ['reserved', 'sending', 'void'] as const) {
        expect(await byClaim(send, { phase })).toMatchObject({ status: 599, result: false });
      }
      expect(await byClaim(send)).toMatchObject({ status: 599, result: false });
    });

    it("is none when the service's own names something else than the request fixed", async () => {
      const others = [
        [send, { ...own, cryptoAmount: '6' }],
        [requestOf('createBridgeDeposit'), { provider_reference_id: 'r1', chain: 'TRON', token: 'USDT' }],
        [requestOf('payInvoice'), { referenceId: 'r1', status: 'SUCCESSFUL', amount: 1, currency: 'USD' }],
      ] as const;
      for (const [request, answer] of others) {
        const kept = { httpStatus: 200, contentType: 'application/json', body: JSON.stringify(answer) };
        expect(await byClaim(request, { phase: 'answered', answer, kept })).toMatchObject({
          status: 599,
          result: false,
        });
      }
    });

    it('is no refusal while a trusted event contradicts it; one of an untrusted event, or of another flow, does not', async () => {
      const refusal = () => byClaim(send, { phase: 'rejected', rejection: { httpStatus: 400, message: 'No' } });
      show('running');
      await store.inbox.receive(anEvent({ flowId: send.address.flowId, proof: null }));
      await store.inbox.receive(anEvent({ flowId: 'crypto-send/r2' }));
      expect((await refusal()).result).toBe(true);
      await store.inbox.receive(anEvent({ flowId: send.address.flowId }));
      expect(await refusal()).toMatchObject({ status: 599, result: false });
      for (const state of ['failed', 'expired', 'cancelled'] as const) {
        show(state);
        expect((await refusal()).result).toBe(true);
      }
      show('completed');
      expect((await refusal()).result).toBe(false);
      // An answer is one, whatever came.
      expect((await byClaim(send, { phase: 'answered', answer: own })).result).toBe(true);
      view = undefined;
      expect((await refusal()).result).toBe(true);
    });
  });

  describe('is given to the very same request alone:', () => {
    it('its claim is found by what the caller decided, and refused to another request', async () => {
      expect(await claimOf(deps(), send)).toBeUndefined();
      await sent(store, send);
      expect(await claimOf(deps(), send)).toMatchObject({ phase: 'sending' });
      const other = await claimOf(deps(), requestOf('sendCrypto', { cryptoAmount: 6 })).catch(
        (error: unknown) => error,
      );
      expect(other).toMatchObject({ status: 409, details: { reference: 'r1', code: 'other_request' } });
    });

    it('also if another process rotated the keys of the store since, and not to another request then', async () => {
      const next = { id: 'next', bytes: new Uint8Array(32).fill(9) };
      const behind = await temporary.open({ keyring: createKeyring([keyring.active, next]) });
      const rotated = await temporary.open({ keyring: createKeyring([next, keyring.active]) });
      await rotated.keys.reseal({ epoch: 1 });
      store = rotated;
      await sent(store, send);
      store = behind;
      expect(await claimOf(deps(), send)).toMatchObject({ phase: 'sending' });
      await expect(claimOf(deps(), requestOf('sendCrypto', { cryptoAmount: 6 }))).rejects.toBeInstanceOf(Refusal);
    });

    it('a claim that was closed before any attempt is of every request', async () => {
      await store.claims.voidUnsent(keyOf(send), { flowId: send.address.flowId, fingerprint: '' }, 'by a person');
      expect(await claimOf(deps(), requestOf('sendCrypto', { cryptoAmount: 6 }))).toMatchObject({
        phase: 'void',
      });
    });
  });
});
