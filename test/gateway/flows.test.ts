import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { CHAINS, TOKENS } from '../../src/contract/vocabulary.js';
import { createPayloadCodec } from '../../src/temporal/payload-codec.js';
import { startFlowWorker, type FlowWorker } from './setup/flow-worker.js';
import { until } from '../harness/until.js';
import type { Answer } from '../harness/service.js';
import { gatewayUnderTest, type GatewayUnderTest } from './setup/gateway-under-test.js';
import { keyring } from '../harness/fixed.js';
import { newReference } from '../harness/references.js';
import { transferInput } from '../harness/inputs.js';

const GATEWAY_TOKENS = 'shop:flows:secret-of-shop,ann:operator:secret-of-ann,root:admin:secret-of-root';
const SHOP = { authorization: 'Bearer secret-of-shop' };
const ANN = { authorization: 'Bearer secret-of-ann' };
const ROOT = { authorization: 'Bearer secret-of-root' };

describe('the HTTP interface of flows', () => {
  let tested: GatewayUnderTest;
  let worker: FlowWorker;
  beforeAll(async () => {
    tested = await gatewayUnderTest({ env: { GATEWAY_TOKENS, TIME_SCALE: '0.5' } });
    worker = await startFlowWorker(tested);
  });
  afterAll(async () => {
    await tested.close();
    await worker.stop();
  });

  /** Parked: a proven event has another amount. */
  const park = async (reference: string) => {
    await start(reference);
    await tested.post(tested.callbackPath(reference), { status: 'COMPLETED', amount: 1, currency: 'KES' });
  };
  const start = (reference: string, changes = {}) =>
    tested.post('/flows/bridge-transfer', transferInput(reference, changes), SHOP);
  const show = async (path: string, headers: Record<string, string> = SHOP) => {
    const answer = await fetch(tested.url + path, { headers });
    return { status: answer.status, body: (await answer.json()) as Answer };
  };

  it('starts a flow once, however often it is requested: 201, then 200, and 409 for another request', async () => {
    const reference = newReference();
    const first = await fetch(`${tested.url}/flows/bridge-transfer`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...SHOP },
      body: JSON.stringify(transferInput(reference)),
    });
    expect(first.status).toBe(201);
    expect(first.headers.get('location')).toBe(`/flows/bridge-transfer/${reference}`);
    expect(await start(reference)).toMatchObject({ status: 200, body: { reference } });
    // Another spelling of the same request, and what is no part of it.
    expect((await start(reference, { amount: 1000.5, callbackUrl: 'https://shop.example/x' })).status).toBe(200);
    expect(await start(reference, { amount: '1000.51' })).toMatchObject({
      status: 409,
      body: {
        success: false,
        data: { reference, code: 'other_request' },
      },
    });
  });

  it('starts one run for 20 identical starts at once', async () => {
    const reference = newReference();
    const answers = await Promise.all(Array.from({ length: 20 }, () => start(reference)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(19);
  });

  it('finds a closed flow again when it is started again, and starts no second run', async () => {
    const reference = newReference();
    await start(reference);
    await tested.post(tested.callbackPath(reference), { status: 'COMPLETED' });
    await show(`/flows/bridge-transfer/${reference}/wait?timeoutSeconds=300`);
    expect(await start(reference)).toMatchObject({ status: 200, body: { state: 'completed' } });
    expect((await start(reference, { amount: '2' })).status).toBe(409);
  });

  it('puts TIME_SCALE into the input of a flow that it starts', async () => {
    const reference = newReference();
    await start(reference);
    const { events } = await tested.client.workflow.getHandle(`bridge-transfer/${reference}`).fetchHistory();
    const payloads = events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads ?? [];
    const [input] = await createPayloadCodec({ keyring, namespace: 'default' }).decode(payloads);
    expect(JSON.parse(Buffer.from(input?.data ?? []).toString())).toMatchObject({ timeScale: 0.5, amount: '1000.5' });
  });

  it('names the members at fault when an input is not valid', async () => {
    const answer = await start('bad..reference', {
      amount: '-1',
      settlement: { amount: 'x', currency: 'USD', recipient: {} },
    });
    expect(answer).toMatchObject({ status: 400, body: { success: false } });
    const paths = answer.body['data'].errors.map(({ path }: { path: string }) => path);
    expect(paths.toSorted()).toEqual(['amount', 'provider_reference_id', 'settlement.amount']);
    const wrong = { referenceId: 'r-1', fiatAmount: true, currency: 'XXX', receiverAddress: 7, foo: 1, 'a b': 1 };
    expect((await tested.post('/flows/onramp', wrong, SHOP)).body['data'].errors).toEqual([
      { path: 'fiatAmount', message: 'must be of the type string or number' },
      { path: 'currency', message: expect.stringContaining('KES') },
      { path: 'chain', message: 'is missing' },
      { path: 'token', message: 'is missing' },
      { path: 'receiverAddress', message: 'must be of the type string' },
      { path: 'foo', message: 'is not known here' },
      { path: '…', message: 'is not known here' },
    ]);
    const elsewhere = { referenceId: 'r-1', fiatAmount: '10', currency: 'KES', chain: 'MOON', token: 'CHEESE' };
    expect((await tested.post('/flows/onramp', elsewhere, SHOP)).body['data'].errors).toEqual([
      { path: 'chain', message: `must be one of ${CHAINS.join(', ')}` },
      { path: 'token', message: `must be one of ${TOKENS.join(', ')}` },
      { path: 'receiverAddress', message: 'is missing' },
    ]);
    const body = { data: { code: 'unknown_kind' } };
    expect(await tested.post('/flows/no-such-kind', {}, SHOP)).toMatchObject({ status: 404, body });
    expect(await show('/flows/no-such-kind/r-1')).toMatchObject({ status: 404, body });
    expect((await tested.post('/flows/constructor', {}, SHOP)).status).toBe(404);
    // A kind that is there, and a body that lacks everything.
    expect((await tested.post('/flows/onramp', {}, SHOP)).status).toBe(400);
    expect((await tested.post('/flows/bridge-transfer', '[]', SHOP)).status).toBe(400);
  });

  it('lists flows by kind, state and reference', async () => {
    const [running, parked] = [newReference(), newReference()];
    await start(running);
    await park(parked);
    const listed = async (query: string) => {
      const { body } = await show(`/flows?${query}`);
      return body['flows'].map(({ reference }: { reference: string }) => reference) as string[];
    };
    await until('the running one', async () => (await listed('state=running&limit=500')).includes(running));
    await until('the parked one', async () =>
      (await listed('state=parked&kind=bridge-transfer&limit=500')).includes(parked),
    );
    expect(await listed(`reference=${running}`)).toEqual([running]);
    expect(await listed(`reference=${running}&state=parked`)).toEqual([]);
    expect((await show("/flows?reference=x'%20OR%201=1")).status).toBe(400);
    expect((await show('/flows?state=lost')).status).toBe(400);
  });

  it('lists why and since when flows are parked, and the amount of each', async () => {
    const [running, parked] = [newReference(), newReference()];
    await start(running);
    await park(parked);
    const rowOf = async (reference: string, query = '') => {
      const { body } = await show(`/flows?reference=${reference}${query}`);
      return (body['flows'] as Answer[])[0];
    };
    const found = await until('it to be listed as parked', async () => {
      const row = await rowOf(parked);
      return row?.['state'] === 'parked' && row;
    });
    const { reason, since } = (await show(`/flows/bridge-transfer/${parked}`)).body['parked'] as Answer;
    expect(found).toMatchObject({ reason: 'event_mismatch', amount: '1000.5', currency: 'KES' });
    expect({ reason: found['reason'], since: found['since'] }).toEqual({ reason, since });
    const listed = await until('the other', () => rowOf(running));
    expect(listed).toMatchObject({ reason: null, since: null, amount: '1000.5' });
    expect(await rowOf(parked, '&reason=event_mismatch')).toMatchObject({ reference: parked });
    expect(await rowOf(parked, '&reason=no_settlement')).toBeUndefined();
    expect((await show('/flows?reason=no_settlement&state=running')).status).toBe(400);
    expect((await show('/flows?reason=boredom')).status).toBe(400);
  });

  it('lists flows page by page, each once, and refuses a page token that it did not make', async () => {
    const references = Array.from({ length: 7 }, () => newReference());
    await Promise.all(references.map((reference) => start(reference)));
    const { flows: all } = await until('all of them', async () => {
      const { body } = await show('/flows?kind=bridge-transfer&state=running&limit=500');
      const listed = (body['flows'] as Answer[]).map(({ reference }) => reference as string);
      return references.every((reference) => listed.includes(reference)) && body;
    });
    const paged: unknown[] = [];
    for (let next: string | null = ''; next !== null;) {
      const after: string = next === '' ? '' : `&after=${next}`;
      const { body } = await show(`/flows?kind=bridge-transfer&state=running&limit=3${after}`);
      const page = body['flows'] as Answer[];
      expect(page.length).toBeLessThanOrEqual(3);
      paged.push(...page.map(({ flowId }) => flowId));
      next = body['next'] as string | null;
    }
    // Other tests start flows meanwhile.
    const ours = (ids: unknown[]) => ids.filter((id) => references.some((one) => id === `bridge-transfer/${one}`));
    expect(ours(paged)).toEqual(ours((all as Answer[]).map(({ flowId }) => flowId)));
    expect(new Set(paged).size).toBe(paged.length);
    const after = { status: 400, body: { data: { errors: [{ path: 'after' }] } } };
    for (const token of ['bm9uc2Vuc2U', 'no.token']) expect(await show(`/flows?after=${token}`)).toMatchObject(after);
  });

  it('answers a wait when the flow ends or parks, or when the time is up', async () => {
    const [slow, parked] = [newReference(), newReference()];
    await start(slow);
    await park(parked);
    expect(await show(`/flows/bridge-transfer/${slow}/wait?timeoutSeconds=0.2`)).toMatchObject({
      body: { state: 'running' },
    });
    // Longer than this test may take.
    expect(await show(`/flows/bridge-transfer/${parked}/wait?timeoutSeconds=300`)).toMatchObject({
      body: { state: 'parked', parked: { reason: 'event_mismatch' } },
    });
    const waiting = show(`/flows/bridge-transfer/${slow}/wait?timeoutSeconds=300`);
    await tested.post(tested.callbackPath(slow), { status: 'REFUNDED' });
    expect(await waiting).toMatchObject({ body: { state: 'refunded' } });
  });

  it('carries orders to the flow, with the name of the token', async () => {
    const [approved, cancelled] = [newReference(), newReference()];
    const pathOf = (reference: string) => `/flows/bridge-transfer/${reference}`;
    for (const reference of [approved, cancelled]) {
      await start(reference, { approval: 'required', timeScale: 1 });
      await until('the quote', async () => (await show(pathOf(reference))).body['stage'] === 'awaiting-approval');
    }
    // What is decided is shown before it is: both sides, the recipient by its end, and the quote.
    expect((await show(pathOf(approved))).body['terms']).toMatchObject({
      sends: { amount: expect.any(String), currency: expect.any(String) },
      receives: { amount: expect.any(String), currency: expect.any(String) },
      recipient: expect.stringMatching(/^…/),
      quote: { gives: { currency: expect.any(String) }, rate: expect.any(String), expiresAt: expect.any(String) },
    });
    expect((await tested.post(`${pathOf(approved)}/approve-quote`, {}, SHOP)).status).toBe(200);
    const { timeline } = (await show(pathOf(approved))).body;
    expect(timeline).toContainEqual(expect.objectContaining({ by: 'shop' }));
    expect((await tested.post(`${pathOf(approved)}/approve-quote`, {}, SHOP)).status).toBe(409);

    const path = pathOf(cancelled);
    expect(await tested.post(`${path}/resolve`, { action: 'send-again', note: 'try' }, ANN)).toMatchObject({
      status: 409,
      body: { success: false, data: { reference: cancelled, actions: [] } },
    });
    expect((await tested.post(`${path}/resolve`, { action: 'send-again' }, ANN)).status).toBe(400);
    expect(await tested.post(`${path}/cancel`, {}, SHOP)).toMatchObject({ status: 200 });
    await until('the end', async () => (await show(path)).body['state'] === 'cancelled');
    expect(await tested.post(`${path}/cancel`, {}, SHOP)).toMatchObject({ status: 200, body: { state: 'cancelled' } });
    expect((await tested.post(`${path}/approve-quote`, {}, SHOP)).status).toBe(409);
  });

  it('names the legal actions once when an order is refused, in the sentence and beside it', async () => {
    const reference = newReference();
    await park(reference);
    const path = `/flows/bridge-transfer/${reference}`;
    await until('it to be parked', async () => (await show(path)).body['state'] === 'parked');
    const refused = async (order: object) =>
      (await tested.post(`${path}/resolve`, { note: 'try', ...order }, ANN)).body;
    const data = { reference, actions: ['accept-event', 'dismiss-event'] };
    expect(await refused({ action: 'keep-waiting' })).toEqual({
      success: false,
      // The flow itself lists them.
      message: expect.not.stringMatching(/accept-event.+accept-event/),
      data: { ...data, code: 'unknown_action' },
    });
    expect(await refused({ action: 'accept-event', eventId: 'evt_of_another_flow' })).toEqual({
      success: false,
      message: expect.any(String),
      data: { ...data, code: 'event_not_asked_about' },
    });
    await tested.client.workflow.getHandle(`bridge-transfer/${reference}`).terminate();
  });

  it('refuses a request without a token, and one whose role does not suffice', async () => {
    const path = `/flows/bridge-transfer/${newReference()}`;
    const statuses = async (headers: Record<string, string>) => [
      (await tested.post('/flows/bridge-transfer', {}, headers)).status,
      (await show(path, headers)).status,
      (await tested.post(`${path}/resolve`, { action: 'send-again', note: 'x' }, headers)).status,
      (await show('/events', headers)).status,
      (await show('/events/evt_1', headers)).status,
      (await tested.post('/events/evt_1/replay', {}, headers)).status,
      (await tested.post('/codec/decode', { payloads: [] }, headers)).status,
    ];
    expect(await statuses({ authorization: 'Bearer nobody' })).toEqual([401, 401, 401, 401, 401, 401, 401]);
    expect((await show(path, { authorization: 'Bearer nobody' })).body['data']).toEqual({ code: 'unknown_token' });
    expect((await show(path, {})).body['data']).toEqual({ code: 'no_token' });
    expect(await statuses(SHOP)).toEqual([400, 404, 403, 200, 403, 403, 403]);
    expect(await statuses(ANN)).toEqual([403, 404, 404, 200, 404, 404, 200]);
    expect(await statuses({ authorization: 'Bearer secret-of-root' })).toEqual([400, 404, 404, 200, 404, 404, 200]);
  });

  it('shows a flow that was terminated in the UI as parked, and an admin closes its claim', async () => {
    const reference = newReference();
    const path = `/flows/bridge-transfer/${reference}`;
    await start(reference);
    await tested.client.workflow.getHandle(`bridge-transfer/${reference}`).terminate('by hand');
    const resume = 'as far as its claims say nothing was sent: it is sent';
    const parked = { reason: 'terminated', actions: ['resume'], evidence: { claims: {}, proven: [], resume } };
    expect(await show(path)).toMatchObject({ body: { state: 'parked', parked } });
    expect(await tested.post(`${path}/resolve`, { action: 'mark-completed', note: 'x' }, ANN)).toMatchObject({
      status: 409,
      body: { data: { actions: ['resume'] } },
    });
    const dated = { action: 'resume', note: 'x', until: '2099-01-01T00:00:00Z' };
    expect((await tested.post(`${path}/resolve`, dated, ANN)).status).toBe(400);
    const order = { as: 'not-executed', note: 'nothing was sent' };
    expect((await tested.post(`${path}/close-claims`, order, ANN)).status).toBe(403);
    expect(await tested.post(`${path}/close-claims`, order, ROOT)).toMatchObject({
      status: 200,
      body: {
        claims: [
          { operation: 'createBridgeDeposit', phase: 'void' },
          { operation: 'sendCrypto', phase: 'void' },
        ],
      },
    });
    expect(await show(path)).toMatchObject({
      body: { state: 'failed', parked: null, outcome: { reason: 'not_executed' } },
    });
    const claim = { account: 'default', operation: 'createBridgeDeposit', reference };
    expect(await tested.store.claims.get(claim)).toMatchObject({ phase: 'void' });
    const late = { owner: 'late', flowId: `bridge-transfer/${reference}`, fingerprint: 'any' };
    expect((await tested.store.claims.reserve(claim, late)).kind).not.toBe('reserved');
  });

  it('does not close as never executed what the service executed: an admin says how it ended', async () => {
    const reference = newReference();
    const flowId = `bridge-transfer/${reference}`;
    const claim = { account: 'default', operation: 'createBridgeDeposit', reference };
    await start(reference);
    await tested.store.claims.reserve(claim, { owner: 'a', flowId, fingerprint: 'f' });
    await tested.store.claims.markSending(claim, 'a');
    await tested.store.claims.recordAnswer(claim, { status: 'DEPOSIT_INITIATED' });
    const close = (as: string) =>
      tested.post(`/flows/${flowId}/close-claims`, { as, note: 'the recipient has it' }, ROOT);
    expect(await close('completed')).toMatchObject({ status: 409, body: { data: { code: 'flow_not_ended' } } });
    await tested.client.workflow.getHandle(flowId).terminate('by hand');
    expect(await show(`/flows/${flowId}`)).toMatchObject({
      body: { state: 'parked', parked: { evidence: { claims: { createBridgeDeposit: 'answered' } } } },
    });
    expect(await close('not-executed')).toMatchObject({ status: 409, body: { data: { code: 'service_has_it' } } });
    expect(await tested.store.claims.get(claim)).toMatchObject({ phase: 'answered' });
    expect((await close('completed')).status).toBe(200);
    expect(await show(`/flows/${flowId}`)).toMatchObject({ body: { state: 'completed', parked: null } });
  });
});
