import { describe, expect, it } from '@jest/globals';
import { operationNames, operations, type OperationName } from '../../../src/contract/index.js';
import type { Operation } from '../../../src/contract/operation.js';
import { ERROR_BODIES } from '../../../src/sandbox/settings.js';
import { SERVICE_TOKEN } from '../../harness/fixed.js';
import { newReference } from '../../harness/references.js';
import { type Stack, withStack } from '../../end-to-end/stack.js';
import { sample } from './caller.js';

const ADMIN = 'secret-of-root';
type Said = { readonly status: number; readonly type: string | null; readonly text: string };

/** Every operation of the interface that the proxy has at its own path. */
const NAMES = operationNames.filter((name) => operations[name].effect !== 'report');
const BY_EFFECT = (money: boolean) => NAMES.filter((name) => (operations[name].effect === 'money') === money);
/** Statuses that the interface calls refusals; others are none, except for a read. */
const REFUSALS = [400, 403, 404, 422];
const FAILURES = [409, 429, 500, 503];

describe('an error of the service is the same through the proxy as it is directly', () => {
  let stack: Stack;
  const options = { sandbox: { stepMs: 20 } };
  withStack(
    { env: { TIME_SCALE: '0.005', GATEWAY_TOKENS: `root:admin:${ADMIN},dev:admin:dev-token` }, ...options },
    (o) => {
      stack = o;
    },
  );

  const say = async (
    url: string,
    token: string,
    name: OperationName,
    body: unknown,
    reference: string,
  ): Promise<Said> => {
    const { method, path, param }: Operation = operations[name];
    const answer = await fetch(url + (param === undefined ? path : path.replace(`{${param}}`, reference)), {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: answer.status, type: answer.headers.get('content-type'), text: await answer.text() };
  };

  const bodyOf = (name: OperationName, reference: string): unknown => {
    const { example, reference: member }: Operation = operations[name];
    return example === undefined || member === undefined ? example : { ...example, [member]: reference };
  };

  /** The text without what the gateway puts beside the service's own. */
  const withoutOurs = (text: string) => {
    const { towline, ...rest } = JSON.parse(text) as { towline?: unknown };
    return { towline, text: JSON.stringify(rest) };
  };

  const bothSay = async (name: OperationName, fault: Record<string, unknown>, form = 'mixed') => {
    const reference = newReference(name);
    await stack.control('POST', '/settings', { errorBody: form });
    const ask = async (url: string, token: string) => {
      await stack.control('POST', '/faults', { operation: name, first: 1, ...fault });
      return say(url, token, name, bodyOf(name, reference), reference);
    };
    const direct = await ask(stack.sandbox.url, SERVICE_TOKEN);
    const through = await ask(stack.url, ADMIN);
    return { direct, through, reference };
  };

  it.each(BY_EFFECT(false))('%s: to the byte', async (name) => {
    for (const status of [...REFUSALS, ...FAILURES]) {
      const { direct, through } = await bothSay(name, { kind: 'error-before', status });
      expect(direct.status).toBe(status);
      expect(through).toEqual(direct);
    }
  });

  it.each(BY_EFFECT(true).filter((name) => name !== 'createCardDeposit'))(
    '%s: but for our member beside it, now and later',
    async (name) => {
      for (const status of REFUSALS) {
        const { direct, through, reference } = await bothSay(name, { kind: 'error-before', status });
        const { towline, text } = withoutOurs(through.text);
        expect({ ...through, text }).toEqual(direct);
        expect(towline).toMatchObject({ by: 'service', reference, flow: expect.stringContaining(`/${reference}`) });
        // From the claim of the flow that has ended.
        expect(await say(stack.url, ADMIN, name, bodyOf(name, reference), reference)).toEqual(through);
      }
    },
  );

  it.each(ERROR_BODIES)('in each form of an error body: %s', async (form) => {
    await stack.control('POST', '/clock', { freeze: true });
    const { direct, through } = await bothSay('sendCrypto', { kind: 'error-before', status: 400 }, form);
    const read = await bothSay('getCryptoSend', { kind: 'error-before', status: 403 }, form);
    await stack.control('POST', '/clock', { unfreeze: true });
    expect(withoutOurs(through.text).text).toBe(direct.text);
    expect(read.through).toEqual(read.direct);
  });

  it('with the members at fault, if the service names them', async () => {
    await stack.control('POST', '/settings', { errorBody: 'mixed' });
    const reference = newReference('rate');
    const body = { ...(bodyOf('createBridgeDeposit', reference) as object), rate_id: 'rate-of-nobody' };
    const direct = await say(stack.sandbox.url, SERVICE_TOKEN, 'createBridgeDeposit', body, reference);
    const through = await say(stack.url, ADMIN, 'createBridgeDeposit', body, reference);
    expect(JSON.parse(direct.text)).toMatchObject({
      error_code: 'INVALID_RATE',
      data: { errors: [{ path: 'rate_id' }] },
    });
    expect({ ...through, text: withoutOurs(through.text).text }).toEqual(direct);
  });

  it('of a card deposit with its status, code and sentence alone: what the service repeats could be the card', async () => {
    const { direct, through, reference } = await bothSay('createCardDeposit', { kind: 'error-before', status: 403 });
    const { message, error_code } = JSON.parse(direct.text) as Record<string, unknown>;
    expect(through.status).toBe(403);
    expect(JSON.parse(through.text)).toEqual({
      success: false,
      message,
      error_code,
      data: { errors: [] },
      towline: { by: 'service', reference, flow: `/flows/card-deposit/${reference}` },
    });
  });

  it('and what the gateway refuses by itself has that envelope, with its own code', async () => {
    const { path, body } = sample('sendCrypto', newReference('own'));
    const send = async (token: string, given: unknown) => {
      const answer = await fetch(stack.url + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify(given),
      });
      return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
    };
    expect((await send(ADMIN, body)).status).toBe(200);
    const refused = [
      await send('of-nobody', body),
      await send(ADMIN, { ...body, cryptoAmount: 'much' }),
      await send(ADMIN, { ...body, cryptoAmount: 6 }),
    ];
    expect(refused.map(({ status, body: { error_code } }) => [status, error_code])).toEqual([
      [401, 'INVALID_API_KEY'],
      [400, 'VALIDATION_ERROR'],
      [409, 'DUPLICATE_REFERENCE'],
    ]);
    for (const { body: answer } of refused) {
      expect(answer).toMatchObject({
        success: false,
        message: expect.any(String),
        data: { errors: expect.any(Array) },
        towline: { by: 'gateway' },
      });
    }
  });
});
