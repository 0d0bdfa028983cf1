import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { newReference } from '../harness/references.js';
import { gatewayUnderTest, type GatewayUnderTest } from './setup/gateway-under-test.js';
import { rawRequest } from './setup/raw-request.js';

const SECRET = 'a secret of the service as text';

let tested: GatewayUnderTest;
beforeAll(async () => {
  tested = await gatewayUnderTest({ temporalAddress: '127.0.0.1:1', env: { WEBHOOK_SECRETS: SECRET } });
});
afterAll(() => tested.close());

it('a captured event of bare fields makes no new events, whatever member "signature" is put into it', async () => {
  const reference = newReference('captured');
  const path = tested.callbackPath(reference);
  const body = JSON.stringify({ referenceId: reference, status: 'PENDING' });
  const mac = `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`;
  const send = async (text: string, header: string) =>
    (await rawRequest(tested.url, path, text, { [header]: mac })).status;
  expect(await send(body, 'x-webhook-signature')).toBe(200);
  for (let copy = 1; copy <= 20; copy += 1) {
    expect(await send(`${body.slice(0, -1)},"signature":"${copy}"}`, 'x-kotani-signature')).toBe(200);
  }
  const rows = await tested.store.inbox.list({ limit: 100 });
  expect(rows).toMatchObject([{ proof: 'signature', repeats: 20 }]);
});
