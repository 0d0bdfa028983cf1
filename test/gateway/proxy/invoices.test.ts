import { describe, expect, it } from '@jest/globals';
import { callerOf, invoiceBody, PATHS, paymentBody, type Caller } from './caller.js';
import { SERVICE_TOKEN } from '../../harness/fixed.js';
import { newReference } from '../../harness/references.js';
import { until } from '../../harness/until.js';
import { type Stack, withStack } from '../../end-to-end/stack.js';

describe('invoices through the proxy', () => {
  let stack: Stack;
  let caller: Caller;
  withStack({ env: { TIME_SCALE: '0.02' }, sandbox: { stepMs: 20 } }, (opened) => {
    stack = opened;
    caller = callerOf(stack.url, SERVICE_TOKEN);
  });

  const executions = async (operation: string, reference: string) =>
    (await stack.control('GET', `/executions?operation=${operation}&reference=${reference}`))['count'] as number;
  const flowOf = async (reference: string) => (await stack.get(`/flows/invoice-payment/${reference}`)).body;
  const ended = (reference: string) => stack.get(`/flows/invoice-payment/${reference}/wait?timeoutSeconds=300`);

  it('wait for their payment, are paid once by 20 callers at once, and answer each as the service did', async () => {
    const reference = newReference('invoice');
    const created = await caller.post(PATHS.invoice, invoiceBody(reference));
    expect(created).toMatchObject({
      status: 200,
      body: {
        data: { reference_id: reference, reference_number: expect.any(Number), redirect_url: expect.any(String) },
      },
    });
    expect(created.headers.get('location')).toBe(`/flows/invoice-payment/${reference}`);
    expect(await flowOf(reference)).toMatchObject({ state: 'running' });
    const answers = await Promise.all(Array.from({ length: 20 }, () => caller.post(PATHS.pay, paymentBody(reference))));
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200));
    for (const { body } of answers) expect(body).toEqual(answers[0]?.body);
    expect(answers[0]?.body['data']).toMatchObject({ referenceId: reference, status: 'PENDING', amount: 500 });
    expect((await ended(reference)).body).toMatchObject({ state: 'completed' });
    expect((await caller.post(PATHS.pay, paymentBody(reference))).body).toEqual(answers[0]?.body);
    expect((await caller.post(PATHS.invoice, invoiceBody(reference))).body).toEqual(created.body);
    expect(await executions('createInvoice', reference)).toBe(1);
    expect(await executions('payInvoice', reference)).toBe(1);
  });

  it('are not paid by a second, other order: while the flow runs, and after it ended', async () => {
    const reference = newReference('twice');
    await caller.post(PATHS.invoice, invoiceBody(reference));
    await caller.post(PATHS.pay, paymentBody(reference));
    const other = paymentBody(reference, { mobileMoney: { phoneNumber: '+254712345679', providerNetwork: 'MPESA' } });
    expect(await caller.post(PATHS.pay, other)).toMatchObject({ status: 409, body: { towline: { reference } } });
    await ended(reference);
    expect((await caller.post(PATHS.pay, other)).status).toBe(409);
    expect(await executions('payInvoice', reference)).toBe(1);
  });

  it('are in the audit log once for each order to pay, however often it is repeated; a refused one is there, too', async () => {
    const reference = newReference('audited');
    const flowId = `invoice-payment/${reference}`;
    const entries = (kind: 'order' | 'refused') => stack.store.audit.list({ flowId, kind, limit: 100 });
    await caller.post(PATHS.invoice, invoiceBody(reference));
    // The payment waits to be sent. More repeats than an order may be refused at once: none of them is.
    await stack.control('POST', '/faults', { operation: 'payInvoice', kind: 'unauthorized', reference });
    const waiting = Array.from({ length: 30 }, () => caller.post(PATHS.pay, paymentBody(reference)));
    await until('the order to be recorded', async () => (await entries('order')).length > 0);
    const other = paymentBody(reference, { mobileMoney: { phoneNumber: '+254712345679', providerNetwork: 'MPESA' } });
    expect((await caller.post(PATHS.pay, other)).status).toBe(409);
    await stack.control('DELETE', '/faults');
    expect(new Set((await Promise.all(waiting)).map(({ status }) => status))).toEqual(new Set([200]));
    const subjects = (await entries('order')).map(({ subject }) => subject);
    expect(subjects).toHaveLength(2);
    expect(new Set(subjects).size).toBe(2);
    // The refusal is of the other order.
    const refused = { action: 'pay', actor: expect.any(String), subject: subjects[0] };
    expect(await entries('refused')).toMatchObject([refused]);
    await ended(reference);
    expect(await executions('payInvoice', reference)).toBe(1);
  });

  it('that were generated elsewhere get a flow that only pays', async () => {
    const reference = newReference('elsewhere');
    const direct = callerOf(stack.sandbox.url, SERVICE_TOKEN);
    const { body } = await direct.post(PATHS.invoice, invoiceBody(reference));
    const paid = await caller.post(PATHS.pay, paymentBody(reference));
    expect(paid).toMatchObject({ status: 200, body: { data: { referenceId: reference } } });
    expect((await caller.post(PATHS.pay, paymentBody(reference))).status).toBe(200);
    expect((await ended(reference)).body).toMatchObject({ state: 'completed' });
    expect(await executions('payInvoice', reference)).toBe(1);
    // The reconciler expects a claim for each execution: this is the claim of the one that generated it.
    const claim = { account: 'default', operation: 'createInvoice', reference };
    const flowId = `invoice-payment/${reference}`;
    await stack.store.claims.reserve(claim, { owner: 'elsewhere', flowId, fingerprint: 'of elsewhere' });
    await stack.store.claims.recordAnswer(claim, body['data']);
    // That reference is in use by now: generating another invoice under it is another request.
    expect((await caller.post(PATHS.invoice, invoiceBody(reference))).status).toBe(409);
  });

  it('of which the service refuses the payment are decided by a person', async () => {
    const reference = newReference('refused');
    await stack.control('POST', '/scenarios', { reference, ending: 'insufficient-funds', operation: 'payInvoice' });
    await caller.post(PATHS.invoice, invoiceBody(reference));
    // It shows the invoice as PENDING, as before: nothing proves that no copy of the payment was executed.
    expect((await caller.post(PATHS.pay, paymentBody(reference))).status).toBe(202);
    const decision = { action: 'close-not-executed', note: 'the service says so' };
    expect((await stack.post(`/flows/invoice-payment/${reference}/resolve`, decision)).status).toBe(200);
    await ended(reference);
    expect(await caller.post(PATHS.pay, paymentBody(reference))).toMatchObject({
      status: 409,
      body: { success: false, towline: { reference, code: 'not_executed' } },
    });
    expect(await executions('payInvoice', reference)).toBe(0);
  });

  it('that were cancelled are not paid', async () => {
    const reference = newReference('cancelled');
    await caller.post(PATHS.invoice, invoiceBody(reference));
    expect((await stack.post(`/flows/invoice-payment/${reference}/cancel`, {})).status).toBe(200);
    await ended(reference);
    expect(await caller.post(PATHS.pay, paymentBody(reference))).toMatchObject({
      status: 409,
      body: { message: expect.stringContaining('cancelled'), towline: { code: 'cancelled_before_sending' } },
    });
    expect(await executions('payInvoice', reference)).toBe(0);
  });
});
