import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { createCallbackSender, secretsOfName } from '../../src/callbacks/index.js';
import { secretBytes } from '../harness/secrets.js';
import { gatewayUnderTest, type GatewayUnderTest } from '../gateway/setup/gateway-under-test.js';
import { startReceiver } from './receiver.js';

const root = (seed: number) => `whsec_${secretBytes(seed, 24).toString('base64')}`;
const ROOTS = [root(1), root(2)];

describe('the secret that signs the callbacks to a name', () => {
  let tested: GatewayUnderTest;
  beforeAll(async () => {
    const tokens = ['shop:flows', 'other:flows', 'vic:viewer', 'pat:operator', 'root:admin'];
    tested = await gatewayUnderTest({
      env: {
        GATEWAY_TOKENS: tokens.map((token) => `${token}:secret-of-${token.split(':')[0]}`).join(','),
        CALLBACK_SECRETS: ROOTS.join(','),
      },
    });
  });
  afterAll(() => tested.close());

  const shown = async (as: string, query = '') => {
    const headers = { authorization: `Bearer secret-of-${as}` };
    const answer = await fetch(`${tested.url}/callbacks/secret${query}`, { headers });
    return { status: answer.status, body: (await answer.json()) as { name: string; secrets: string[] } };
  };

  it('verifies those to it, by the new root and by the old one, and none to another name', async () => {
    const receiver = await startReceiver();
    const send = (owner: string | undefined, roots: readonly string[]) =>
      createCallbackSender({ secrets: (name) => secretsOfName(name, roots), allowLoopback: true }).send({
        url: receiver.url,
        owner,
        id: 'msg_1',
        body: '{"data":{}}',
      });
    await send('shop', ROOTS);
    await send('shop', ROOTS.slice(1));
    await send('other', ROOTS);
    await send(undefined, ROOTS);
    const received = await receiver.until((all) => all.length === 4);
    const { body } = await shown('shop');
    const verified = received.map(({ text, headers }) =>
      body.secrets.findIndex((secret) => {
        try {
          new Webhook(secret).verify(text, headers as Record<string, string>);
          return true;
        } catch {
          return false;
        }
      }),
    );
    expect(verified).toEqual([0, 1, -1, -1]);
    await receiver.close();
  });

  it('is shown to that name and to an admin, as an entry of the audit log says, and to no one else', async () => {
    const own = await shown('shop');
    expect(own.body).toEqual({ name: 'shop', secrets: secretsOfName('shop', ROOTS) });
    expect((await shown('shop', '?name=shop')).body).toEqual(own.body);
    expect((await shown('root', '?name=shop')).body).toEqual(own.body);
    expect((await shown('root', '?name=temporal:client')).status).toBe(200);
    expect([
      (await shown('other', '?name=shop')).status,
      (await shown('shop', '?name=temporal:client')).status,
    ]).toEqual([404, 404]);
    expect([(await shown('vic')).status, (await shown('pat', '?name=shop')).status]).toEqual([403, 403]);
    const entries = await tested.store.audit.list({ limit: 9, kind: 'read-secret' });
    expect(entries.map(({ actor, subject }) => `${actor} ${subject}`).toSorted()).toEqual([
      'root shop',
      'root temporal:client',
      'shop shop',
    ]);
    expect(JSON.stringify(entries)).not.toContain('whsec_');
    expect(own.body.secrets).not.toEqual((await shown('other')).body.secrets);
  });
});
