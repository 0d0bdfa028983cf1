import { describe, expect, it } from '@jest/globals';
import { sampled, type Sampled } from '../../sandbox/samples.js';
import { bridgeBody, callerOf, PATHS, sample, type Caller } from './caller.js';
import { SERVICE_TOKEN } from '../../harness/fixed.js';
import { KINDS } from '../../harness/kinds.js';
import { newReference } from '../../harness/references.js';
import { until } from '../../harness/until.js';
import { type Stack, withStack } from '../../end-to-end/stack.js';

/** The kind of each flow. */
const kindOf = (operation: Sampled) => KINDS.find(({ posts }) => operation in posts)?.kind;

describe('a money POST through the proxy', () => {
  let stack: Stack;
  let caller: Caller;
  withStack({ env: { TIME_SCALE: '0.02' }, sandbox: { stepMs: 20 } }, (opened) => {
    stack = opened;
    caller = callerOf(stack.url, SERVICE_TOKEN);
  });

  const executions = async (operation: string, reference: string) =>
    (await stack.control('GET', `/executions?operation=${operation}&reference=${reference}`))['count'] as number;
  const ended = (flow: string) => stack.get(`/flows/${flow}/wait?timeoutSeconds=300`);

  it.each(sampled)("is answered with the service's own answer, is a flow, and is logged as it: %s", async (name) => {
    const reference = newReference(name);
    const { path, body } = sample(name, reference);
    const answer = await caller.post(path, body);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('location')).toBe(`/flows/${kindOf(name)}/${reference}`);
    const { success, message, data } = answer.body;
    expect({ success, message }).toEqual({ success: true, message: expect.any(String) });
    expect(data.referenceId ?? data.reference_id).toBe(reference);
    // The service was given our callback URL, and repeats it in some answers.
    expect(JSON.stringify(data)).not.toMatch(/callbacks\/[a-z]+-[a-z]+\//);
    expect(await executions(name, reference)).toBe(1);
    const requestId = answer.headers.get('x-request-id');
    const isItsLine = (entry: Record<string, unknown>) =>
      entry['msg'] === 'answered' && entry['requestId'] === requestId;
    const line = await until('its line of the log', () => stack.log.find(isItsLine));
    expect(line).toMatchObject({ flowId: `${kindOf(name)}/${reference}`, status: 200 });
    await ended(`${kindOf(name)}/${reference}`);
    // The flow has closed: what its claim keeps is the same answer.
    const again = await caller.post(path, body);
    expect({ status: again.status, data: again.body['data'] }).toEqual({ status: 200, data });
    expect(await executions(name, reference)).toBe(1);
  });

  it('is read with a byte order mark in front', async () => {
    const reference = newReference('marked');
    const { path, body } = sample('sendCrypto', reference);
    const headers = { authorization: `Bearer ${SERVICE_TOKEN}`, 'content-type': 'application/json' };
    const answer = await fetch(stack.url + path, { method: 'POST', headers, body: `\ufeff${JSON.stringify(body)}` });
    expect(answer.status).toBe(200);
    expect(await executions('sendCrypto', reference)).toBe(1);
  });

  it('is one flow and one execution for 20 callers at once, who all get the same answer', async () => {
    const reference = newReference('crowd');
    const { path, body } = sample('sendCrypto', reference);
    const answers = await Promise.all(Array.from({ length: 20 }, () => caller.post(path, body)));
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200));
    expect(new Set(answers.map((answer) => JSON.stringify(answer.body))).size).toBe(1);
    expect(await executions('sendCrypto', reference)).toBe(1);
  });

  it('is refused if another request has its reference, while that runs and after it ended', async () => {
    const reference = newReference('other');
    const { path, body } = sample('sendCrypto', reference);
    await caller.post(path, body);
    const other = { ...body, cryptoAmount: 6 };
    const refused = await caller.post(path, other);
    expect(refused).toMatchObject({ status: 409, body: { success: false, towline: { reference } } });
    await ended(`crypto-send/${reference}`);
    expect((await caller.post(path, other)).status).toBe(409);
    expect(await executions('sendCrypto', reference)).toBe(1);
  });

  it("comes back with the service's own status and sentence where the service refuses it, then and later", async () => {
    const reference = newReference('refused');
    const { path, body } = sample('sendCrypto', reference);
    const tooMuch = { ...body, cryptoAmount: 5.42 };
    const refused = await caller.post(path, tooMuch);
    expect(refused).toMatchObject({
      status: 400,
      body: { success: false, message: 'Insufficient Funds', towline: { by: 'service', reference } },
    });
    await ended(`crypto-send/${reference}`);
    const again = await caller.post(path, tooMuch);
    expect({ status: again.status, body: again.body }).toEqual({ status: 400, body: refused.body });
  });

  it('names the members that are wrong, and starts nothing', async () => {
    const reference = newReference('wrong');
    const { path, body } = sample('createOnramp', reference);
    const wrong = { ...body, fiatAmount: '12', currency: 'XXX', surprise: 1 };
    const answer = await caller.post(path, wrong);
    expect(answer).toMatchObject({ status: 400, body: { success: false } });
    const paths = answer.body['data'].errors.map((error: { path: string }) => error.path);
    expect(paths).toEqual(expect.arrayContaining(['fiatAmount', 'currency']));
    // A rule of the kind, which the schema of the operation does not have.
    const mobileMoney = { phoneNumber: '12', providerNetwork: 'MPESA' };
    expect((await caller.post(path, { ...body, mobileMoney })).status).toBe(400);
    expect((await caller.post(path, { ...body, referenceId: 'a..b' })).status).toBe(400);
    expect((await stack.get(`/flows/onramp/${reference}`)).status).toBe(404);
  });

  it('gets a reference of ours if the interface allows that it has none', async () => {
    const { path, body } = sample('createBankCheckout', 'none');
    const { referenceId: _none, ...without } = body;
    const { status, body: answer } = await caller.post(path, without);
    expect(status).toBe(200);
    const reference = answer['data'].referenceId as string;
    expect(reference).toMatch(/^tw-[0-9a-f-]{36}$/);
    expect((await stack.get(`/flows/bank-checkout/${reference}`)).status).toBe(200);
  });

  it('is a bridge transfer from its deposit on, with its callback URL kept and ours given to the service', async () => {
    const reference = newReference('bridge');
    const answer = await caller.post(PATHS.bridge, bridgeBody(reference));
    expect(answer).toMatchObject({
      status: 200,
      body: { data: { provider_reference_id: reference, status: 'DEPOSIT_INITIATED' } },
    });
    expect((await ended(`bridge-transfer/${reference}`)).body['state']).toBe('completed');
    const { deliveries } = await stack.control('GET', `/deliveries?reference=${reference}`);
    expect(deliveries.some(({ url }: { url: string }) => url.includes('shop.example'))).toBe(false);
  });
});
