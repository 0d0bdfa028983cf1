import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { workflowTypeOf } from '../../src/protocol/vocabulary.js';
import { run } from '../cli/run.js';
import { ACCOUNT, SERVICE_TOKEN } from '../harness/fixed.js';
import { transferInput } from '../harness/inputs.js';
import { newSigningKey, openIssuer, type TestIssuer } from '../harness/oidc-issuer.js';
import { newReference } from '../harness/references.js';
import { openStack, type StackWithGateway } from '../harness/stack.js';
import { until } from '../harness/until.js';
import { anEvent } from '../store/temporary-store.js';
import { callerOf, invoiceBody, PATHS, paymentBody, sample, type Caller } from './proxy/caller.js';

const ROLES = { shop: 'flows', rival: 'flows', vic: 'viewer', op: 'operator', app: 'approver', root: 'admin' } as const;
type Name = keyof typeof ROLES;
const secretOf = (name: string) => `secret-of-${name}-0123456789`;

describe('a flow that a name started', () => {
  let stack: StackWithGateway;
  let issuer: TestIssuer;
  let person: Caller;
  const as = {} as Record<Name, Caller>;
  beforeAll(async () => {
    issuer = await openIssuer(await newSigningKey('first'));
    const tokens = Object.entries(ROLES).map(([name, role]) => `${name}:${role}:${secretOf(name)}`);
    const env = {
      GATEWAY_TOKENS: tokens.join(','),
      OIDC_ISSUER: issuer.url,
      OIDC_AUDIENCE: 'towline,temporal-ui',
      TIME_SCALE: '0.02',
    };
    stack = await openStack({ gateway: { env } });
    for (const name of Object.keys(ROLES) as Name[]) as[name] = callerOf(stack.gateway.url, secretOf(name));
    person = callerOf(stack.gateway.url, await issuer.accessToken({ subject: 'shop', role: 'flows' }));
  });
  afterAll(async () => {
    await stack.close();
    await issuer.close();
  });

  const start = async (by: Caller, more: Record<string, unknown> = {}) => {
    const reference = newReference('owned');
    await stack.control('POST', '/scenarios', { reference, ending: 'silent' });
    const input = transferInput(reference, { deadlineSeconds: 100_000, ...more });
    expect((await by.post('/flows/bridge-transfer', input)).status).toBe(201);
    return { reference, input, flow: `/flows/bridge-transfer/${reference}`, flowId: `bridge-transfer/${reference}` };
  };
  const listed = async (by: Caller, query = '') =>
    ((await by.get(`/flows?limit=500${query}`)).body['flows'] as { flowId: string }[]).map(({ flowId }) => flowId);

  it('is not there for another name of the role flows: it can be neither read nor ordered, whatever its state', async () => {
    const { flow } = await start(as.shop, { approval: 'required' });
    await until('its quote', async () => (await as.shop.get(flow)).body['stage'] === 'awaiting-approval');
    const orders = [
      ['cancel', {}],
      ['approve-quote', {}],
      ['withdraw', {}],
      ['pay', { mobileMoney: { phoneNumber: '+254712345678', providerNetwork: 'MPESA' } }],
      ['refund-invoice', { invoice: 'lnbc1' }],
    ] as const;
    const reads = ['', '/wait?timeoutSeconds=0', '/answers', '/events', '/callbacks'];
    for (const other of [as.rival, person]) {
      for (const path of reads) expect([path, (await other.get(flow + path)).status]).toEqual([path, 404]);
      for (const [word, body] of orders) {
        expect([word, (await other.post(`${flow}/${word}`, body)).status]).toEqual([word, 404]);
      }
    }
    expect((await as.shop.get(flow)).body).toMatchObject({ state: 'running', stage: 'awaiting-approval' });
    expect((await as.shop.post(`${flow}/approve-quote`, {})).status).toBe(200);
  });

  it('names the entry of its start, which its history keeps', async () => {
    const { flowId } = await start(as.shop);
    const [entry] = await stack.store.audit.list({ flowId, kind: 'start', limit: 1 });
    const { memo } = await stack.client.workflow.getHandle(flowId).describe();
    expect([memo?.['start'], entry?.actor]).toEqual([entry?.subject, 'shop']);
  });

  it('answers another name as one that does not exist does', async () => {
    const { flow, reference } = await start(as.shop);
    const there = await as.rival.get(flow);
    const missing = await as.rival.get(flow.replace(reference, 'none-0001'));
    expect(there.status).toBe(404);
    expect(JSON.stringify(there.body).replaceAll(reference, 'none-0001')).toBe(JSON.stringify(missing.body));
  });

  it('is listed for its own name, and for roles that see all flows', async () => {
    const [ours, theirs] = [await start(as.shop), await start(as.rival)];
    const both = [ours.flowId, theirs.flowId];
    await until('both to be listed', async () => {
      const all = await listed(as.vic);
      return both.every((flowId) => all.includes(flowId));
    });
    const shown = async (by: Caller) => (await listed(by)).filter((flowId) => both.includes(flowId));
    expect(await shown(as.shop)).toEqual([ours.flowId]);
    expect(await shown(as.rival)).toEqual([theirs.flowId]);
    expect(await shown(person)).toEqual([]);
    for (const name of ['vic', 'op', 'app', 'root'] as const) {
      expect((await shown(as[name])).toSorted()).toEqual(both.toSorted());
    }
    expect(await listed(as.rival, `&reference=${ours.reference}`)).toEqual([]);
    expect(await listed(as.rival, `&reference=${theirs.reference}&kind=bridge-transfer&state=running`)).toEqual([
      theirs.flowId,
    ]);
  });

  it('is listed page by page, each flow once', async () => {
    const flows: string[] = [];
    for (let count = 0; count < 5; count += 1) flows.push((await start(person)).flowId);
    await until('all to be listed', async () => (await listed(person)).length === 5);
    const pages: string[] = [];
    let after = '';
    for (let page = 0; page < 9; page += 1) {
      const { body } = await person.get(`/flows?limit=2${after}`);
      pages.push(...(body['flows'] as { flowId: string }[]).map(({ flowId }) => flowId));
      if (body['next'] === null) break;
      after = `&after=${body['next']}`;
    }
    expect(pages).toEqual(flows.toReversed());
  });

  it('cannot be found by the same request of another name, directly or through the proxy', async () => {
    const { input } = await start(as.shop);
    expect(await as.rival.post('/flows/bridge-transfer', input)).toMatchObject({
      status: 409,
      body: { data: { code: 'other_request' } },
    });
    expect((await as.shop.post('/flows/bridge-transfer', input)).status).toBe(200);
    const { path, body } = sample('sendCrypto', newReference('owned'));
    expect((await as.shop.post(path, body)).status).toBe(200);
    expect(await as.rival.post(path, body)).toMatchObject({
      status: 409,
      body: { towline: { code: 'other_request' } },
    });
    expect((await as.shop.post(path, body)).status).toBe(200);
  });

  it("is neither read nor paid through the service's own paths by another name; a record of which no flow is known is", async () => {
    const [sent, billed] = [newReference('owned'), newReference('owned')];
    const { path, body } = sample('sendCrypto', sent);
    expect((await as.shop.post(path, body)).status).toBe(200);
    expect((await as.rival.get(`${PATHS.send}/${sent}`)).status).toBe(404);
    expect((await as.shop.get(`${PATHS.send}/${sent}`)).status).toBe(200);
    expect((await as.op.get(`${PATHS.send}/${sent}`)).status).toBe(200);
    expect((await as.shop.post(PATHS.invoice, invoiceBody(billed))).status).toBe(200);
    expect((await as.rival.post(PATHS.pay, paymentBody(billed))).status).toBe(404);
    expect((await as.shop.post(PATHS.pay, paymentBody(billed))).status).toBe(200);
    const direct = newReference('direct');
    const other = sample('sendCrypto', direct);
    await fetch(stack.sandbox.url + other.path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${SERVICE_TOKEN}` },
      body: JSON.stringify(other.body),
    });
    expect((await as.rival.get(`${PATHS.send}/${direct}`)).status).toBe(200);
  });

  it('has records at the service that a flow of another name, of another kind, under its reference does not open', async () => {
    const watched = newReference('owned');
    const onramp = sample('createOnramp', watched);
    expect((await as.shop.post(onramp.path, onramp.body)).status).toBe(200);
    expect((await as.rival.post('/flows/mobile-money-watch', { referenceId: watched })).status).toBe(201);
    const deposit = `/api/v3/deposit/mobile-money/status/${watched}`;
    expect((await as.rival.get(deposit)).status).toBe(404);
    expect((await as.shop.get(deposit)).status).toBe(200);
  });

  it.each(['bank-checkout', 'card-deposit', 'mobile-money-watch', 'on-chain-watch', 'onramp'] as const)(
    'has a record of its deposit that no other name reads, as mobile money or with its on-chain leg: %s',
    async (kind) => {
      const [reference, ofNobody] = [newReference('owned'), newReference('direct')];
      const shop = { actor: 'shop', role: 'flows', means: 'token' } as const;
      await stack.store.audit.append({ ...shop, kind: 'start', flowId: `${kind}/${reference}`, subject: 'start_x' });
      const { path, body } = sample('createOnramp', ofNobody);
      const service = async (referenceId: string) =>
        fetch(stack.sandbox.url + path, {
          method: 'POST',
          headers: { 'content-type': 'application/json', authorization: `Bearer ${SERVICE_TOKEN}` },
          body: JSON.stringify({ ...body, referenceId }),
        });
      for (const one of [reference, ofNobody]) expect((await service(one)).status).toBe(200);
      for (const read of ['mobile-money', 'on-chain']) {
        const statusOf = async (by: Caller, one: string) =>
          (await by.get(`/api/v3/deposit/${read}/status/${one}`)).status;
        const found = [await statusOf(as.rival, reference), await statusOf(as.shop, reference)];
        expect([read, ...found, await statusOf(as.rival, ofNobody)]).toEqual([read, 404, 200, 200]);
      }
    },
  );

  it.each([
    ['short', 0],
    ['of 121 characters', 121],
  ])('has a record of its refund that no other name reads, under a reference that is %s', async (_, length) => {
    const reference = newReference('owned').padEnd(length, 'y');
    const flowId = `bridge-transfer/${reference}`;
    const key = { account: ACCOUNT, operation: 'sendCrypto', reference: `${reference}.refund` };
    const { audit, claims } = stack.store;
    const shop = { actor: 'shop', role: 'flows', means: 'token' } as const;
    await audit.append({ ...shop, kind: 'start', flowId, subject: `start_${reference}` });
    await claims.reserve(key, { owner: 'o', flowId, fingerprint: 'f' });
    await claims.markSending(key, 'o');
    const { path, body } = sample('sendCrypto', key.reference);
    await fetch(stack.sandbox.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${SERVICE_TOKEN}` },
      body: JSON.stringify(body),
    });
    if (length === 0) {
      expect((await as.rival.post('/flows/mobile-money-watch', { referenceId: reference })).status).toBe(201);
    }
    expect((await as.rival.get(`${PATHS.send}/${key.reference}`)).status).toBe(404);
    expect((await as.shop.get(`${PATHS.send}/${key.reference}`)).status).toBe(200);
  });

  it('is decided, read and cancelled by the roles that see all flows, each as its permissions say', async () => {
    const { flow } = await start(as.shop, { approval: 'required' });
    await until('its quote', async () => (await as.shop.get(flow)).body['stage'] === 'awaiting-approval');
    expect((await as.vic.get(flow)).status).toBe(200);
    expect((await as.vic.post(`${flow}/cancel`, {})).status).toBe(403);
    expect((await as.vic.get(`${flow}/answers`)).status).toBe(403);
    expect((await as.op.post(`${flow}/approve-quote`, {})).status).toBe(403);
    expect((await as.app.post(`${flow}/cancel`, {})).status).toBe(403);
    expect((await as.op.post(`${flow}/cancel`, {})).status).toBe(200);
    const approved = await start(as.shop, { approval: 'required' });
    await until('its quote', async () => (await as.shop.get(approved.flow)).body['stage'] === 'awaiting-approval');
    expect((await as.app.post(`${approved.flow}/approve-quote`, {})).status).toBe(200);
  });

  it('has events that its own name sees, and no other of the role flows', async () => {
    const { flowId, flow } = await start(as.shop);
    const event = anEvent({ flowId, proof: null, source: 'settlement' });
    await stack.store.inbox.receive(event);
    const seen = async (by: Caller, path: string) =>
      ((await by.get(path)).body['events'] as { id: string }[]).some(({ id }) => id === event.id);
    expect(await seen(as.shop, `${flow}/events`)).toBe(true);
    expect(await seen(as.shop, '/events?limit=500')).toBe(true);
    expect(await seen(as.rival, '/events?limit=500')).toBe(false);
    expect(await seen(as.vic, '/events?limit=500')).toBe(true);
  });

  it('has no owner if another Temporal client started it: a name that asks for it then finds no flow of its own', async () => {
    const reference = newReference('foreign');
    const [flow, flowId] = [`/flows/bridge-transfer/${reference}`, `bridge-transfer/${reference}`];
    await stack.control('POST', '/scenarios', { reference, ending: 'silent' });
    const input = transferInput(reference, { deadlineSeconds: 100_000 });
    await stack.client.workflow.start(workflowTypeOf('bridge-transfer'), {
      taskQueue: stack.taskQueue,
      workflowId: flowId,
      args: [input],
    });
    const starts = () => stack.store.audit.list({ flowId, kind: 'start', limit: 9 });
    await until('its start to be recorded', async () => (await starts()).length === 1);
    expect((await as.shop.get(flow)).status).toBe(404);
    expect((await as.shop.post('/flows/bridge-transfer', input)).status).toBe(409);
    expect((await as.shop.get(flow)).status).toBe(404);
    expect((await as.op.get(flow)).status).toBe(200);
    expect((await as.root.post('/flows/bridge-transfer', input)).status).toBe(200);
    expect((await stack.store.audit.ownersOf([flowId])).get(flowId)).toMatchObject({ name: null });
  });

  it('is given to another name by an admin alone, which is recorded; then its first name has it no more', async () => {
    const [{ flow, flowId }, second] = [await start(as.shop), await start(as.shop)];
    for (const name of ['shop', 'rival', 'op', 'app', 'vic'] as const) {
      expect((await as[name].post(`${flow}/give`, { to: 'rival', note: 'x' })).status).toBe(403);
    }
    expect((await as.root.post(`${flow}/give`, { to: 'no name', note: 'x' })).status).toBe(400);
    expect((await as.root.post('/flows/onramp/none/give', { to: 'rival', note: 'x' })).status).toBe(404);
    const given = await as.root.post(`${flow}/give`, { to: 'rival', note: 'the shop was sold' });
    expect(given).toMatchObject({ status: 200, body: { flowId, owner: 'rival', before: 'shop' } });
    expect((await as.shop.get(flow)).status).toBe(404);
    expect((await as.rival.get(flow)).status).toBe(200);
    await until('it to be listed', async () => (await listed(as.rival)).includes(flowId));
    expect(await listed(as.shop)).not.toContain(flowId);
    const [entry] = await stack.store.audit.list({ flowId, kind: 'give', limit: 9 });
    const details = { note: 'the shop was sold', before: 'shop' };
    expect(entry).toMatchObject({ actor: 'root', subject: 'rival', details });
    expect((await as.rival.post(`${flow}/cancel`, {})).status).not.toBe(404);

    const env = { GATEWAY_URL: stack.gateway.url, TOWLINE_TOKEN: secretOf('root') };
    const command = ['give', flowId, second.flowId, '--to', 'oidc:shop', '--note', 'they log in now'];
    expect((await run(command, env)).code).toBe(0);
    for (const path of [flow, second.flow]) expect((await person.get(path)).status).toBe(200);
  });
});
