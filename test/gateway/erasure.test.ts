import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openStack, type Stack } from '../end-to-end/stack.js';
import { run } from '../cli/run.js';
import { NAMESPACE } from '../harness/fixed.js';
import { transferInput } from '../harness/inputs.js';
import { newReference } from '../harness/references.js';
import { controlOf } from '../harness/service.js';
import { until } from '../harness/until.js';
import { callerOf, sample, type Caller } from './proxy/caller.js';

const SHOP = 'secret-of-the-shop-0123456789';

describe('towline store erase', () => {
  let stack: Stack;
  let shop: Caller;
  beforeAll(async () => {
    const GATEWAY_TOKENS = `shop:flows:${SHOP},dev:admin:dev-token`;
    stack = await openStack({
      env: { TIME_SCALE: '0.02', GATEWAY_TOKENS },
      sandbox: { stepMs: 20 },
      isReconciled: false,
    });
    shop = callerOf(stack.url, SHOP);
  });
  afterAll(() => stack.close());

  const erase = (flow: string, more: readonly string[] = [], confirm?: (question: string) => Promise<boolean>) =>
    run(['store', 'erase', flow, ...more], { GATEWAY_URL: stack.url, TOWLINE_TOKEN: 'dev-token' }, '', confirm);
  const ended = async (flow: string) => {
    const { body } = await stack.get(`/flows/${flow}/wait?timeoutSeconds=300`);
    expect(body['state']).toBe('completed');
    const isSettled = async () => {
      const { body: page } = await stack.get(`/flows/${flow}/events`);
      const events = page['events'] as { readonly state: string }[];
      return events.every(({ state }) => state !== 'waiting' && state !== 'delivered');
    };
    await until(`the events of ${flow} to be settled`, isSettled);
  };
  const executions = (operation: string, reference: string) =>
    controlOf(stack.sandbox.url).executions(operation, reference);
  /** As when the namespace's retention is over. */
  const goneFromTemporal = async (flow: string) => {
    const workflowExecution = { workflowId: flow };
    await stack.client.workflowService.deleteWorkflowExecution({ namespace: NAMESPACE, workflowExecution });
    await until(`${flow} to be gone`, async () => (await stack.get(`/flows/${flow}`)).status === 404);
  };
  const entriesOf = async (flow: string) => {
    const { body } = await stack.get(`/audit?flow=${flow}&order=oldest`);
    const entries = body['entries'] as { kind: string; actor: string; details: { note?: string } | null }[];
    return entries.map(({ kind, details }) => (details === null ? kind : `${kind} (${details.note ?? ''})`));
  };

  const told = (reference: string) => ({
    status: 200,
    body: {
      success: true,
      data: { referenceId: reference },
    },
  });
  /** As the gateway refuses it. */
  const refusedErasure = async (flow: string) => {
    const { status, body } = await stack.post(`/flows/${flow}/erase`, {});
    return [status, body['data'].code];
  };

  it('erases a flow that has ended: its answer is gone, and a repetition is answered as executed', async () => {
    const reference = newReference('erase');
    const flow = `crypto-send/${reference}`;
    const { path, body } = sample('sendCrypto', reference);
    expect((await shop.post(path, body)).status).toBe(200);
    await ended(flow);
    expect((await stack.get(`/flows/${flow}/answers`)).body['answers']).toMatchObject([{ data: expect.anything() }]);

    const asked: string[] = [];
    const no = (question: string) => (asked.push(question), Promise.resolve(false));
    expect(await erase(flow, [], no)).toMatchObject({ code: 1, out: '' });
    expect(asked).toEqual([expect.stringContaining(flow)]);
    expect(await entriesOf(flow)).not.toContain('erase');
    expect(await erase(flow, ['--yes', '--note', 'request 12'], no)).toMatchObject({
      code: 0,
      err: '',
      out: expect.stringMatching(/\b0 events\b/),
    });

    expect(await entriesOf(flow)).toEqual(['start', 'read-answers', 'erase (request 12)']);
    expect((await stack.get(`/flows/${flow}/answers`)).body['answers']).toEqual([
      { operation: 'sendCrypto', erased: 'answer' },
    ]);
    expect(await shop.post(path, body)).toMatchObject(told(reference));
    expect((await shop.post(path, { ...body, cryptoAmount: 13 })).status).toBe(409);
    expect((await stack.store.audit.verify()).problems).toEqual([]);
  });

  it('answers a repetition of a refused request as refused', async () => {
    const reference = newReference('erase');
    const { path, body } = sample('sendCrypto', reference);
    await stack.control('POST', '/scenarios', { reference, ending: 'rejected' });
    expect((await shop.post(path, body)).status).toBe(400);
    await stack.get(`/flows/crypto-send/${reference}/wait?timeoutSeconds=300`);
    expect((await erase(`crypto-send/${reference}`)).code).toBe(0);
    expect(await shop.post(path, body)).toMatchObject({
      status: 400,
      body: { success: false, towline: { by: 'service', code: 'erased' } },
    });
  });

  it('refuses a flow that runs or is parked, and records that; it knows no other flow', async () => {
    const reference = newReference('erase');
    const flow = `crypto-send/${reference}`;
    await stack.control('POST', '/scenarios', { reference, ending: 'never' });
    const { body } = sample('sendCrypto', reference);
    expect((await stack.post('/flows/crypto-send', { ...body, deadlineSeconds: 3_600 })).status).toBe(201);
    expect((await erase(flow)).code).toBe(1);
    await stack.client.workflow.getHandle(flow).terminate();
    await until('it to be parked', async () => (await stack.get(`/flows/${flow}`)).body['state'] === 'parked');
    expect(await refusedErasure(flow)).toEqual([409, 'flow_not_ended']);
    expect(await entriesOf(flow)).toEqual(['start ()', 'refused ()', 'refused ()']);
    expect((await erase('crypto-send/nothing-of-ours')).code).toBe(1);
    expect(await refusedErasure('crypto-send/nothing-of-ours')).toEqual([404, undefined]);
  });

  it('leaves claims that nothing is sent under again, once the retention of Temporal is over', async () => {
    const [transfer, send, open] = [newReference('erase'), newReference('erase'), newReference('erase')];
    const input = transferInput(transfer, { deadlineSeconds: 300 });
    const { path, body } = sample('sendCrypto', send);
    expect((await stack.post('/flows/bridge-transfer', input)).status).toBe(201);
    expect((await shop.post(path, body)).status).toBe(200);
    const flows = [`bridge-transfer/${transfer}`, `crypto-send/${send}`];
    for (const flow of flows) {
      await ended(flow);
      expect((await erase(flow)).code).toBe(0);
    }
    const key = { account: 'default', operation: 'sendCrypto', reference: open };
    const lost = `crypto-send/${open}`;
    await stack.store.claims.reserve(key, { owner: 'a', flowId: lost, fingerprint: 'f' });
    await stack.store.claims.markSending(key, 'a');
    await Promise.all(flows.map(goneFromTemporal));

    expect(await refusedErasure(lost)).toEqual([409, 'flow_not_ended']);
    for (const flow of flows) expect((await erase(flow)).code).toBe(0);

    expect(await shop.post(path, body)).toMatchObject(told(send));
    await ended(`crypto-send/${send}`);
    expect(await executions('sendCrypto', send)).toBe(1);

    // The service shows no state of a deposit, so a person is asked.
    expect((await stack.post('/flows/bridge-transfer', input)).status).toBe(201);
    const { body: still } = await stack.get(`/flows/bridge-transfer/${transfer}/wait?timeoutSeconds=300`);
    // What its earlier run's events said was erased, so they may differ from what is known.
    expect(still).toMatchObject({ state: 'parked', parked: { reason: 'event_mismatch' } });
    expect(await executions('createBridgeDeposit', transfer)).toBe(1);
  });
});
