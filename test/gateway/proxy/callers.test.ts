import { describe, expect, it } from '@jest/globals';
import { operationNames, operations } from '../../../src/contract/index.js';
import type { Operation } from '../../../src/contract/operation.js';
import { callerOf, PATHS, sample } from './caller.js';
import { SERVICE_TOKEN } from '../../harness/fixed.js';
import { newReference } from '../../harness/references.js';
import { type Stack, withStack } from '../../end-to-end/stack.js';

const TOKENS = 'shop:flows:secret-of-shop,dev:admin:dev-token';

describe('the proxy', () => {
  let stack: Stack;
  withStack({ env: { TIME_SCALE: '0.02', GATEWAY_TOKENS: TOKENS }, sandbox: { stepMs: 20 } }, (opened) => {
    stack = opened;
  });

  it.each(operationNames.filter((name) => name !== 'reportSettlement'))(
    'refuses a caller without a token: %s',
    async (name) => {
      const { method, path }: Operation = operations[name];
      const { status, body } = await callerOf(stack.url, 'no-token-of-ours').send(method, path.replace(/\{\w+\}/, 'x'));
      expect({ status, success: body['success'] }).toEqual({ status: 401, success: false });
    },
  );

  it('takes a gateway token, or the token of the service, and no other spelling of it', async () => {
    for (const token of ['secret-of-shop', SERVICE_TOKEN]) {
      expect((await callerOf(stack.url, token).get(`${PATHS.send}/nothing`)).status).toBe(404);
    }
    for (const token of [SERVICE_TOKEN.slice(0, -1), `${SERVICE_TOKEN}x`, SERVICE_TOKEN.toUpperCase()]) {
      expect((await callerOf(stack.url, token).get(`${PATHS.send}/nothing`)).status).toBe(401);
    }
  });

  it('alone is opened by the token of the service', async () => {
    expect((await callerOf(stack.url, SERVICE_TOKEN).get('/flows')).status).toBe(401);
    expect((await callerOf(stack.url, SERVICE_TOKEN).get('/events')).status).toBe(401);
  });

  it('takes the report of a settlement at its path without any token', async () => {
    const { path } = operations.reportSettlement;
    const body = { provider_reference_id: newReference('nobody'), status: 'COMPLETED' };
    expect((await stack.post(path, body, { authorization: '' })).status).toBe(200);
  });

  it('passes a card on to the service, and leaves it nowhere else', async () => {
    const reference = newReference('card');
    const { path, body } = sample('createCardDeposit', reference);
    const card = {
      number: '5200828282828210',
      holder: 'Canary Cardholder',
      expiryMonth: '11',
      expiryYear: '2041',
      cvv: '739',
    };
    const answer = await callerOf(stack.url, SERVICE_TOKEN).post(path, { ...body, card });
    expect(answer).toMatchObject({ status: 200, body: { data: { reference_id: reference } } });
    const history = await stack.client.workflow.getHandle(`card-deposit/${reference}`).fetchHistory();
    const everywhere = JSON.stringify([history, stack.log, stack.workerLog, answer.body]);
    for (const secret of [card.number, card.holder]) expect(everywhere).not.toContain(secret);
    // A card that cannot be one is refused by member, never by value.
    const wrong = await callerOf(stack.url, SERVICE_TOKEN).post(path, {
      ...body,
      card: { ...card, number: '4111111111111112' },
    });
    expect(wrong).toMatchObject({ status: 400, body: { data: { errors: [{ path: 'card.number' }] } } });
    expect(JSON.stringify(wrong.body)).not.toContain('4111111111111112');
  });
});
