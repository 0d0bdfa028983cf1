import { describe, expect, it } from '@jest/globals';
import { readSettings } from '../../src/config/index.js';
import { checkedInput } from '../../src/gateway/flows/start.js';
import type { FlowReport } from '../../src/api/flow.js';
import type { Store } from '../../src/store/store.js';
import { type Stack, withStack } from '../end-to-end/stack.js';
import { SERVICE_TOKEN } from '../harness/fixed.js';
import { transferInput } from '../harness/inputs.js';
import { newReference } from '../harness/references.js';
import { withTemporaryStore } from '../store/temporary-store.js';
import { callerOf, invoiceBody, PATHS, paymentBody, sample, type Caller } from './proxy/caller.js';

describe('a flow above MAX_AMOUNTS', () => {
  let stack: Stack;
  let caller: Caller;
  withStack({ env: { MAX_AMOUNTS: 'KES:1500,CUSD:5', TIME_SCALE: '0.02' }, sandbox: { stepMs: 20 } }, (opened) => {
    stack = opened;
    caller = callerOf(stack.url, SERVICE_TOKEN);
  });
  const executions = async (reference: string) =>
    (await stack.control('GET', `/executions?reference=${reference}`))['count'] as number;

  it('is refused over HTTP by member, limit and setting, never by value; the limit itself is taken', async () => {
    const reference = newReference('http');
    const start = (amount: string) => stack.post('/flows/bridge-transfer', transferInput(reference, { amount }));
    const refused = await start('1500.01');
    const message = 'must be at most 1500 KES, the limit that MAX_AMOUNTS sets';
    expect(refused).toMatchObject({
      status: 400,
      body: {
        data: { reference, code: 'above_largest_amount', errors: [{ path: 'amount', message }] },
      },
    });
    expect(JSON.stringify(refused.body)).not.toContain('1500.01');
    expect((await stack.get(`/flows/bridge-transfer/${reference}`)).status).toBe(404);
    expect((await start('1500')).status).toBe(201);
    // One that exists is another request, and not "nothing was sent".
    expect((await start('1500.01')).status).toBe(409);
  });

  it('is refused by the proxy, before anything is sent', async () => {
    const reference = newReference('proxy');
    const { path, body } = sample('sendCrypto', reference);
    const refused = await caller.post(path, { ...body, cryptoAmount: 5.000001 });
    expect(refused).toMatchObject({
      status: 400,
      body: {
        success: false,
        data: { errors: [{ path: 'cryptoAmount' }] },
        towline: { by: 'gateway', reference, code: 'above_largest_amount' },
      },
    });
    expect(await executions(reference)).toBe(0);
    expect((await caller.post(path, body)).status).toBe(200);
  });

  it('is refused as an order to pay an invoice that was small', async () => {
    const reference = newReference('order');
    expect((await caller.post(PATHS.invoice, invoiceBody(reference))).status).toBe(200);
    const refused = await caller.post(PATHS.pay, paymentBody(reference, { amount: 1501 }));
    expect(refused).toMatchObject({ status: 400, body: { message: expect.stringContaining('MAX_AMOUNTS') } });
    expect((await caller.post(PATHS.pay, paymentBody(reference))).status).toBe(200);
  });

  it.each([
    ['bridgeTransfer', 'bridge-transfer', (reference: string) => transferInput(reference, { amount: '1500.01' })],
    [
      'cryptoSend',
      'crypto-send',
      (referenceId: string) => ({
        referenceId,
        receiverAddress: '0x1111111111111111111111111111111111111111',
        chain: 'CELO',
        token: 'CUSD',
        cryptoAmount: '5.01',
      }),
    ],
  ])('started by another Temporal client as %s, ends at its first step', async (type, kind, inputOf) => {
    const reference = newReference('temporal');
    const handle = await stack.client.workflow.start(type, {
      taskQueue: stack.taskQueue,
      workflowId: `${kind}/${reference}`,
      args: [inputOf(reference)],
    });
    await expect(handle.result()).rejects.toThrow();
    const { view } = await handle.query<FlowReport>('flow');
    expect(view.outcome).toMatchObject({ state: 'failed', reason: 'invalid_input' });
    expect(view.outcome?.detail).toContain('MAX_AMOUNTS');
    expect(await executions(reference)).toBe(0);
  });
});

describe('a request above a limit that was lowered', () => {
  let store: Store;
  withTemporaryStore((opened) => (store = opened));

  it('is not reported as unsent when it has a claim, whatever Temporal has forgotten', async () => {
    const settings = readSettings({ MAX_AMOUNTS: 'CUSD:1' });
    const reader = { facts: () => Promise.resolve(undefined) };
    const checked = (reference: string) =>
      checkedInput({ settings, reader, store }, { name: 'shop' }, 'crypto-send', sample('sendCrypto', reference).body);
    const [paid, unknown] = [newReference('paid'), newReference('unknown')];
    const key = { account: settings.serviceAccount, operation: 'sendCrypto', reference: paid };
    await store.claims.reserve(key, { owner: 'a', flowId: `crypto-send/${paid}`, fingerprint: 'f' });
    await expect(checked(unknown)).rejects.toMatchObject({ status: 400, details: { code: 'above_largest_amount' } });
    expect((await checked(paid)).address.reference).toBe(paid);
  });
});
