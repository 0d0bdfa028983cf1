import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { createCallbackSender } from '../../src/callbacks/index.js';
import { readCallback } from '../../src/sdk/read-callback.js';
import { startReceiver } from '../callbacks/receiver.js';
import { foreignPython, type PythonOrder } from './setup/foreign-python.js';
import { createRandom } from '../harness/random.js';
import { gatewayUnderTest, type GatewayUnderTest } from './setup/gateway-under-test.js';

const COUNT = 100;
const python = await foreignPython();
const secrets = [1, 2].map(() => `whsec_${randomBytes(24 + 8).toString('base64')}`) as [string, string];
const random = createRandom(5);
const TEXTS = ['plain', 'zażółć', '💸', '\u2028', '"quoted"', '\\', '\u0000', '１２', '../..', '\r\n'];
const nowS = () => Math.floor(Date.now() / 1_000);

/** Of another content each, with every kind of text in it. */
const bodyOf = (n: number) =>
  JSON.stringify({ event: 'system.event', data: { n, text: random.pick(TEXTS) + random.pick(TEXTS), amount: n / 7 } });

interface Signed {
  readonly id: string;
  readonly atS: number;
  readonly body: string;
  readonly signature: string;
}
type Signer = (orders: readonly (PythonOrder & { do: 'sign' })[]) => Promise<readonly string[]>;
type Verifier = (orders: readonly (PythonOrder & { do: 'verify' })[]) => Promise<readonly string[]>;

const npmSign: Signer = (orders) =>
  Promise.resolve(orders.map(({ secret, id, atS, body }) => new Webhook(secret).sign(id, new Date(atS * 1_000), body)));
const npmVerify: Verifier = (orders) =>
  Promise.resolve(
    orders.map(({ secret, headers, body }) => {
      try {
        new Webhook(secret).verify(body, headers as Record<string, string>);
        return 'valid';
      } catch (error) {
        return (error as Error).constructor.name;
      }
    }),
  );

const FOREIGN: readonly (readonly [string, Signer, Verifier])[] = [
  ['npm', npmSign, npmVerify],
  ...(python === undefined ? [] : [['PyPI', python, python] as const]),
];

describe.each(FOREIGN)('Standard Webhooks by the public package of %s', (_registry, sign, verify) => {
  let tested: GatewayUnderTest;
  let endpoint: string;
  beforeAll(async () => {
    const env = { WEBHOOK_PROFILE: 'standard-webhooks', WEBHOOK_SECRETS: secrets.join() };
    tested = await gatewayUnderTest({ temporalAddress: '127.0.0.1:1', env });
    endpoint = new URL(tested.gateway.inbound.webhook).pathname;
  });
  afterAll(() => tested.close());

  const vectors = async (): Promise<Signed[]> => {
    const orders = Array.from({ length: COUNT }, (_, n) => ({
      do: 'sign' as const,
      secret: secrets[n % 2] ?? '',
      id: `msg_${randomUUID()}`,
      atS: nowS() - random.below(200),
      body: bodyOf(n),
    }));
    const signatures = await sign(orders);
    return orders.map((order, n) => ({ ...order, signature: signatures[n] ?? '' }));
  };
  const headersOf = ({ id, atS, signature }: Signed) => ({
    'webhook-id': id,
    'webhook-timestamp': String(atS),
    'webhook-signature': signature,
  });

  it(`${COUNT} signed by it come in as trusted, and none of them with another body`, async () => {
    for (const vector of await vectors()) {
      expect((await tested.post(endpoint, `${vector.body} `, headersOf(vector))).status).toBe(401);
      expect((await tested.post(endpoint, vector.body, headersOf(vector))).status).toBe(200);
    }
    const rows = await tested.store.inbox.list({ limit: COUNT * 2 });
    expect(rows).toHaveLength(COUNT);
    expect(new Set(rows.map(({ proof }) => proof))).toEqual(new Set(['signature']));
  });

  it(`${COUNT} callbacks of ours are verified by it, and none of them with another body or key`, async () => {
    const receiver = await startReceiver();
    const sender = createCallbackSender({ secrets: () => [...secrets], allowLoopback: true });
    for (let n = 0; n < COUNT; n += 1) {
      await sender.send({ url: `${receiver.url}/hook`, id: `msg_${n}`, body: bodyOf(n) });
    }
    await receiver.close();
    const orders = receiver.received.map(({ headers, text }) => {
      const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];
      const given = Object.fromEntries(names.map((name) => [name, String(headers[name])]));
      return { do: 'verify' as const, secret: secrets[0], headers: given, body: text };
    });
    expect(orders).toHaveLength(COUNT);
    expect(new Set(await verify(orders))).toEqual(new Set(['valid']));
    const tampered = orders.map((order) => ({ ...order, body: `${order.body} ` }));
    expect(new Set(await verify(tampered))).toEqual(new Set(['WebhookVerificationError']));
    const byOthers = orders.map((order) => ({ ...order, secret: secrets[1] }));
    expect(new Set(await verify(byOthers))).toEqual(new Set(['WebhookVerificationError']));
  });

  it('signs as the client that we give to backends expects', async () => {
    const body = JSON.stringify({ timestamp: '2026-01-01T00:00:00Z', data: { flowId: 'f/1', state: 'completed' } });
    const [secret] = secrets;
    const [id, atS] = ['msg_1', nowS()];
    const [signature = ''] = await sign([{ do: 'sign', secret, id, atS, body }]);
    const headers = headersOf({ id, atS, body, signature });
    expect(readCallback({ secrets, headers, body }).flow).toMatchObject({ flowId: 'f/1' });
    expect(() => readCallback({ secrets, headers, body: `${body} ` })).toThrow(/not signed/);
  });
});

if (python === undefined) it.skip('Standard Webhooks by the public package of PyPI: not installable here', () => {});
