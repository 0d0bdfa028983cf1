import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { submitFingerprint } from '../../../src/store/store-key.js';
import { openStack, type Stack } from '../../end-to-end/stack.js';
import { SERVICE_TOKEN } from '../../harness/fixed.js';
import { newReference } from '../../harness/references.js';
import { until } from '../../harness/until.js';
import { anEvent } from '../../store/temporary-store.js';
import { PAYMENT_BODY } from '../../sandbox/samples.js';
import { callerOf, invoiceBody, PATHS, paymentBody, sample, type Caller } from './caller.js';

let stack: Stack;
let caller: Caller;
beforeAll(async () => {
  stack = await openStack({ env: { TIME_SCALE: '0.02' }, isReconciled: false });
  caller = callerOf(stack.url, SERVICE_TOKEN);
});
afterAll(() => stack.close());

it("a caller does not get the service's refusal while a trusted event contradicts it, and gets it once that event is dismissed", async () => {
  const reference = newReference('contradicted');
  const flowId = `crypto-send/${reference}`;
  const { path, body } = sample('sendCrypto', reference);
  await stack.control('POST', '/faults', { operation: 'sendCrypto', kind: 'slow', delayMs: 4_000, first: 1 });
  const { claims, inbox } = stack.store;
  const phase = async () => (await claims.ofFlow(flowId))[0]?.phase;
  const tooMuch = { ...body, cryptoAmount: 5.42 };
  const first = caller.post(path, tooMuch);
  await until('the POST to be under way', async () => (await phase()) === 'sending');
  await inbox.receive(anEvent({ flowId, status: 'SUCCESSFUL', body: { status: 'SUCCESSFUL', cryptoAmount: 9 } }));

  const decidedByPerson = { status: 202, body: { data: { state: 'parked' } } };
  await until('the flow to be parked', async () => (await stack.get(`/flows/${flowId}`)).body['state'] === 'parked');
  expect(await phase()).toBe('rejected');
  expect((await first).status).toBe(202);
  expect(await caller.post(path, tooMuch)).toMatchObject(decidedByPerson);

  const dismissed = await stack.post(`/flows/${flowId}/resolve`, {
    action: 'dismiss-event',
    note: 'of another account',
  });
  expect(dismissed.status).toBe(200);
  await until('its end', async () => (await stack.get(`/flows/${flowId}`)).body['state'] === 'failed');
  expect(await caller.post(path, tooMuch)).toMatchObject({ status: 400, body: { towline: { by: 'service' } } });
});

it('an invoice is not called paid by another way while a person decides about an event of another amount, nor while an order to pay it may have been sent, which a restored flow does not know', async () => {
  const reference = newReference('forgotten');
  const flowId = `invoice-payment/${reference}`;
  await caller.post(PATHS.invoice, invoiceBody(reference));
  const data = { reference_id: reference, status: 'SUCCESSFUL', amount: 499, currency: 'KES' };
  await stack.store.inbox.receive(
    anEvent({ flowId, source: 'webhook', status: 'SUCCESSFUL', body: { event: 'payment.confirmed', data } }),
  );
  await until('the flow to be parked', async () => (await stack.get(`/flows/${flowId}`)).body['state'] === 'parked');
  const order = () => caller.post(PATHS.pay, paymentBody(reference));
  expect(await order()).toMatchObject({ status: 202, body: { data: { state: 'parked' } } });

  const { amount, currency, mobileMoney } = PAYMENT_BODY;
  const decided = { amount: String(amount), currency, mobileMoney };
  const fingerprint = submitFingerprint(stack.store, 'payInvoice', decided);
  const claim = { account: 'default', operation: 'payInvoice', reference };
  await stack.store.claims.reserve(claim, { owner: 'before the restore', flowId, fingerprint });
  await stack.store.claims.markSending(claim, 'before the restore');
  expect(await order()).toMatchObject({
    status: 202,
    body: { data: { state: 'parked' } },
  });
});
