import { describe, expect, it } from '@jest/globals';
import { until } from '../../harness/until.js';
import { callerOf, sample, type Caller } from './caller.js';
import { SERVICE_TOKEN } from '../../harness/fixed.js';
import { newReference } from '../../harness/references.js';
import { type Stack, withStack } from '../../end-to-end/stack.js';

/** The service answers later than the proxy waits, and sooner than its client gives up. */
const LATE = { kind: 'slow', delayMs: 2_500, first: 1 };

describe('if the answer takes longer than PROXY_TIMEOUT', () => {
  let stack: Stack;
  let caller: Caller;
  const options = { sandbox: { stepMs: 20 } };
  withStack({ env: { TIME_SCALE: '0.02', PROXY_TIMEOUT: '0.5' }, ...options }, (opened) => {
    stack = opened;
    caller = callerOf(stack.url, SERVICE_TOKEN);
  });

  it('a money POST is taken: 202, the address of the flow, and the answer for a repeated request', async () => {
    const reference = newReference('late');
    await stack.control('POST', '/faults', { operation: 'sendCrypto', reference, ...LATE });
    const { path, body } = sample('sendCrypto', reference);
    const first = await caller.post(path, body);
    expect(first).toMatchObject({
      status: 202,
      body: { success: true, data: { referenceId: reference, state: 'running' } },
    });
    expect(first.headers.get('location')).toBe(`/flows/crypto-send/${reference}`);
    const answer = await until('the answer', async () => {
      const again = await caller.post(path, body);
      return again.status === 200 && again;
    });
    expect(answer.body['data']).toMatchObject({ referenceId: reference, cryptoAmount: 5 });
    const found = await stack.control('GET', `/executions?operation=sendCrypto&reference=${reference}`);
    expect(found['count']).toBe(1);
  });

  it('a read of what the service does not show yet is not a 404: a caller would send again', async () => {
    const reference = newReference('hidden');
    const fault = { kind: 'late-commit', connection: 'hang', delayMs: 3_000, first: 1 };
    await stack.control('POST', '/faults', { operation: 'sendCrypto', reference, ...fault });
    const { path, body } = sample('sendCrypto', reference);
    expect((await caller.post(path, body)).status).toBe(202);
    expect(await caller.get(`${path}/${reference}`)).toMatchObject({
      status: 200,
      body: {
        data: { referenceId: reference, status: 'PENDING' },
      },
    });
    await until('the answer', async () => (await caller.post(path, body)).status === 200);
  });

  it('a POST whose answer was lost, and whose record was found, is answered with its reference', async () => {
    const reference = newReference('found');
    await stack.control('POST', '/faults', { operation: 'createOnramp', kind: 'answer-lost', reference, first: 1 });
    const { path, body } = sample('createOnramp', reference);
    const answer = await until('the answer', async () => {
      const again = await caller.post(path, body);
      return again.status === 200 && again;
    });
    expect(answer.body).toMatchObject({ success: true, data: { referenceId: reference } });
    const found = await stack.control('GET', `/executions?operation=createOnramp&reference=${reference}`);
    expect(found['count']).toBe(1);
  });

  it('a POST whose outcome only a person can find out is 202, with that code', async () => {
    const reference = newReference('unknown');
    await stack.control('POST', '/faults', {
      operation: 'createBankWithdrawal',
      kind: 'error-before',
      reference,
      first: 1,
    });
    const { path, body } = sample('createBankWithdrawal', reference);
    await caller.post(path, body);
    await stack.get(`/flows/bank-withdrawal/${reference}/wait?timeoutSeconds=300`);
    expect(await caller.post(path, body)).toMatchObject({
      status: 202,
      body: { data: { state: 'parked' } },
    });
  });

  it('a POST whose repeat was refused is 202 as before, for the first one may have been executed', async () => {
    const reference = newReference('repeat-refused');
    const flow = `/flows/bank-withdrawal/${reference}`;
    const rule = { operation: 'createBankWithdrawal', reference, first: 1 };
    await stack.control('POST', '/faults', { ...rule, kind: 'error-before' });
    await stack.control('POST', '/faults', { ...rule, kind: 'error-before', status: 400 });
    const { path, body } = sample('createBankWithdrawal', reference);
    await caller.post(path, body);
    await stack.get(`${flow}/wait?timeoutSeconds=300`);
    await stack.post(`${flow}/resolve`, { action: 'send-again', note: 'not there' });
    await until('the refusal', async () => (await stack.get(flow)).body['parked']?.evidence?.refused !== undefined);
    expect(await caller.post(path, body)).toMatchObject({ status: 202, body: { data: { state: 'parked' } } });
    expect((await stack.get(`${flow}/answers`)).body['answers']).toEqual([]);
  });
});
