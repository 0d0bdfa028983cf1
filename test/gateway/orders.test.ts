import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { bolt11 } from '../flows/bolt11.js';
import { bank, mobileMoney } from '../flows/invoice-payment-setup.js';
import { until } from '../harness/until.js';
import { newReference } from '../harness/references.js';
import { exampleInput, transferInput } from '../harness/inputs.js';
import { openStack, type Stack } from '../end-to-end/stack.js';

describe('an order by HTTP:', () => {
  let stack: Stack;
  beforeAll(async () => {
    stack = await openStack({ env: { TIME_SCALE: '0.01' } });
  });
  afterAll(() => stack.close());

  const show = async (flow: string) => (await stack.get(`/flows/${flow}`)).body;
  const reached = (flow: string, stage: string) =>
    until(`${stage} of ${flow}`, async () => (await show(flow))['stage'] === stage);
  const answersOf = async (flow: string) => (await stack.get(`/flows/${flow}/answers`)).body['answers'];

  const invoice = async () => {
    const reference = newReference('order');
    const input = { referenceId: reference, currency: 'KES', amount: '1000.50', bank, deadlineSeconds: 10_000 };
    expect((await stack.post('/flows/invoice-payment', input)).status).toBe(201);
    const flow = `invoice-payment/${reference}`;
    await reached(flow, 'awaiting-payment');
    return { reference, flow };
  };

  it('an invoice is paid once, when its flow is ordered to, and both answers of the service can be read', async () => {
    const { reference, flow } = await invoice();
    expect(await answersOf(flow)).toMatchObject([
      { operation: 'createInvoice', data: { redirect_url: expect.stringMatching(/^https?:/) } },
    ]);
    expect((await stack.post(`/flows/${flow}/pay`, { mobileMoney })).status).toBe(200);
    const again = await stack.post(`/flows/${flow}/pay`, { mobileMoney });
    // If it has ended meanwhile, it takes no order; it never pays twice.
    expect([200, 409]).toContain(again.status);
    expect((await stack.get(`/flows/${flow}/wait?timeoutSeconds=300`)).body).toMatchObject({ state: 'completed' });
    expect(await answersOf(flow)).toMatchObject([
      { operation: 'createInvoice' },
      { operation: 'payInvoice', data: { status: 'PENDING' } },
    ]);
    const { count } = await stack.control('GET', `/executions?operation=payInvoice&reference=${reference}`);
    expect(count).toBe(1);
    expect(JSON.stringify(await show(flow))).not.toContain('redirect_url');
  });

  it('an order to pay that makes no sense is refused, and leaves the flow as it is', async () => {
    const { flow } = await invoice();
    expect(await stack.post(`/flows/${flow}/pay`, {})).toMatchObject({
      status: 400,
      body: { data: { errors: [{ path: 'mobileMoney' }] } },
    });
    expect(await stack.post(`/flows/${flow}/pay`, { mobileMoney: { phoneNumber: '12' } })).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('phoneNumber') },
    });
    expect((await stack.post(`/flows/${flow}/pay`, { mobileMoney }, { authorization: 'Bearer no' })).status).toBe(401);
    expect((await show(flow))['stage']).toBe('awaiting-payment');
    expect((await stack.post(`/flows/${flow}/cancel`, {})).status).toBe(200);
  });

  it('a parked flow waits until the very time that a person gives, and a time that makes no sense is refused', async () => {
    const reference = newReference('until');
    const flow = `bridge-transfer/${reference}`;
    await stack.control('POST', '/scenarios', { reference, ending: 'silent' });
    await stack.post('/flows/bridge-transfer', transferInput(reference, { deadlineSeconds: 100 }));
    await until(`${flow} to be parked`, async () => (await show(flow))['state'] === 'parked');
    const order = (time: string, action = 'keep-waiting') =>
      stack.post(`/flows/${flow}/resolve`, { action, note: 'the provider says: in an hour', until: time });
    const inAnHour = new Date(Date.now() + 3_600_000).toISOString();
    expect(await order('tomorrow')).toMatchObject({ status: 400 });
    expect(await order('2020-01-01T00:00:00Z')).toMatchObject({ status: 400 });
    expect(await order(inAnHour, 'mark-completed')).toMatchObject({ status: 400 });
    expect(await order(inAnHour)).toMatchObject({ status: 200 });
    expect(await show(flow)).toMatchObject({ state: 'running', deadlineAt: inAnHour });
    await stack.client.workflow.getHandle(flow).terminate();
    stack.expectParked(flow, 'it was terminated by the test');
  });

  it('an order that its flow is still carrying out when it is terminated is answered with the end of the flow', async () => {
    const reference = newReference('terminated');
    const flow = `crypto-send/${reference}`;
    await stack.control('POST', '/scenarios', { reference, ending: 'never' });
    await stack.post('/flows/crypto-send', {
      ...(await exampleInput('crypto-send', reference)),
      deadlineSeconds: 100,
    });
    await until(`${flow} to be parked`, async () => (await show(flow))['state'] === 'parked');
    await stack.control('POST', '/faults', { operation: 'getCryptoSend', reference, kind: 'slow', delayMs: 60_000 });
    const ordered = stack.post(`/flows/${flow}/resolve`, { action: 'mark-completed', note: 'seen on the chain' });
    const handle = stack.client.workflow.getHandle(flow);
    const isAccepted = async () =>
      (await handle.fetchHistory()).events?.some(
        (event) => event.workflowExecutionUpdateAcceptedEventAttributes != null,
      );
    await until('the order to be accepted', async () => (await isAccepted()) === true);
    await handle.terminate();
    expect(await ordered).toMatchObject({
      status: 409,
      body: { data: { code: 'flow_terminated' } },
    });
    stack.expectParked(flow, 'it was terminated by the test');
  });

  it('a refund over Lightning gets its invoice', async () => {
    const reference = newReference('refund');
    const flow = `offramp/${reference}`;
    await stack.control('POST', '/scenarios', { reference, ending: 'refund-needs-invoice' });
    const input = { referenceId: reference, currency: 'KES', chain: 'LIGHTNING', token: 'SAT', cryptoAmount: '2100' };
    await stack.post('/flows/offramp', { ...input, deadlineSeconds: 100_000 });
    // Either word may be looked up first, and the other one come by its callback before it is.
    const isOwed = async () => {
      const entries = (await show(flow))['timeline'] as { code: string; detail: string }[];
      const isKnown = entries.some(({ detail }) => detail.includes('REFUND_PENDING'));
      return (
        isKnown &&
        entries.some(({ code, detail }) => code === 'status-looked-up' && /FAILED|REFUND_PENDING/.test(detail))
      );
    };
    await until('a refund that is owed', isOwed);
    expect(await stack.post(`/flows/${flow}/refund-invoice`, { invoice: 'lnbc1nonsense' })).toMatchObject({
      status: 400,
    });
    const given = { invoice: bolt11({ amountMsat: 2_100_000 }) };
    expect(await stack.post(`/flows/${flow}/refund-invoice`, given)).toMatchObject({ status: 200 });
    await until('the invoice on the flow', async () => (await show(flow))['parked']?.reason === 'refund_invoice_ready');
  });

  it('an order to a flow of a wrong workflow type is refused with that type, and the flow shows why nothing happens', async () => {
    const reference = newReference('wrong-type');
    const workflowId = `crypto-send/${reference}`;
    const { client, taskQueue } = stack;
    const handle = await client.workflow.start('crypto-send', { taskQueue, workflowId, args: [{}] });
    const refused = { status: 409, body: { data: { code: 'foreign_flow' } } };
    const order = { action: 'keep-waiting', note: 'a try' };
    expect(await stack.post(`/flows/${workflowId}/cancel`, {})).toMatchObject(refused);
    expect(await stack.post(`/flows/${workflowId}/resolve`, order)).toMatchObject(refused);
    const both = expect.stringMatching(/crypto-send.*cryptoSend/);
    expect(await show(workflowId)).toMatchObject({ state: 'running', stage: both });
    await handle.terminate();
  });

  it('what a flow of another kind cannot do is refused with a sentence', async () => {
    const { flow } = await invoice();
    expect(await stack.post(`/flows/${flow}/refund-invoice`, { invoice: 'lnbc1' })).toMatchObject({ status: 409 });
    expect((await stack.post(`/flows/${flow}/cancel`, {})).status).toBe(200);
  });

  describe('its entry of the audit log', () => {
    const entries = async (flow: string) => {
      const { body } = await stack.get(`/audit?flow=${flow}&order=oldest&limit=500`);
      return (body['entries'] as { kind: string }[]).map(({ kind }) => kind);
    };
    const cancel = async (flow: string) => (await stack.post(`/flows/${flow}/cancel`, {})).status;

    it('is not written for a flow that does not exist, or that has ended', async () => {
      const none = `invoice-payment/${newReference('none')}`;
      expect([await cancel(none), (await stack.post(`/flows/${none}/pay`, { mobileMoney })).status]).toEqual([
        404, 404,
      ]);
      expect((await stack.post(`/flows/${none}/resolve`, { action: 'keep-waiting', note: 'x' })).status).toBe(404);
      expect(await entries(none)).toEqual([]);

      const { flow } = await invoice();
      expect(await cancel(flow)).toBe(200);
      await until(`the end of ${flow}`, async () => (await show(flow))['state'] === 'cancelled');
      const before = await entries(flow);
      expect([await cancel(flow), (await stack.post(`/flows/${flow}/pay`, { mobileMoney })).status]).toEqual([
        200, 409,
      ]);
      expect(await entries(flow)).toEqual(before);
    });

    it('is not written for an action that no flow has', async () => {
      const { flow } = await invoice();
      const before = await entries(flow);
      const refused = await stack.post(`/flows/${flow}/resolve`, { action: 'pay-me', note: 'why not' });
      expect(refused).toMatchObject({ status: 400, body: { data: { errors: [{ path: 'action' }] } } });
      expect(await entries(flow)).toEqual(before);
      expect(await cancel(flow)).toBe(200);
    });

    it('is written twenty times for an order that is refused again and again, and then once a minute', async () => {
      const { flow } = await invoice();
      const given = { invoice: 'lnbc1' };
      const statuses: number[] = [];
      for (let n = 0; n < 23; n += 1) statuses.push((await stack.post(`/flows/${flow}/refund-invoice`, given)).status);
      expect(statuses).toEqual([...Array<number>(20).fill(409), 429, 429, 429]);
      expect((await entries(flow)).filter((kind) => kind === 'refused')).toHaveLength(20);
      expect((await entries(flow)).filter((kind) => kind === 'order')).toHaveLength(20);
      // Other orders about the flow are still possible.
      expect(await cancel(flow)).toBe(200);
    });
  });

  it("a refusal of the service is one of the flow's answers; a flow that does not exist has none", async () => {
    const reference = newReference('refused');
    await stack.control('POST', '/scenarios', { reference, ending: 'invoice-rejected', operation: 'createInvoice' });
    const input = { referenceId: reference, currency: 'KES', amount: '1000.50', bank, payment: { mobileMoney } };
    await stack.post('/flows/invoice-payment', input);
    await stack.get(`/flows/invoice-payment/${reference}/wait?timeoutSeconds=300`);
    expect(await answersOf(`invoice-payment/${reference}`)).toMatchObject([
      { operation: 'createInvoice', rejected: { httpStatus: 400 } },
    ]);
    expect((await stack.get(`/flows/invoice-payment/${newReference('none')}/answers`)).status).toBe(404);
  });
});
