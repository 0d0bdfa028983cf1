import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { settingsAtFault } from '../config/settings-at-fault.js';
import { transferInput } from '../harness/inputs.js';
import { newReference } from '../harness/references.js';
import { gatewayUnderTest, type GatewayUnderTest } from './setup/gateway-under-test.js';

const secretOf = (name: string) => `secret-of-${name}-0123456789`;

describe('the references of a name with a prefix', () => {
  let tested: GatewayUnderTest;
  const started: string[] = [];
  beforeAll(async () => {
    tested = await gatewayUnderTest({
      env: {
        GATEWAY_TOKENS: ['shop-a', 'shop-b', 'other'].map((name) => `${name}:flows:${secretOf(name)}`).join(','),
        GATEWAY_REFERENCE_PREFIXES: 'shop-a=A-, shop-b=B-',
      },
    });
  });
  afterAll(async () => {
    for (const flowId of started) await tested.client.workflow.getHandle(flowId).terminate();
    await tested.close();
  });

  const start = async (name: string, kind: string, input: (reference: string) => object, prefix: string) => {
    const reference = `${prefix}${newReference('prefix')}`;
    const by = { authorization: `Bearer ${secretOf(name)}` };
    const { status, body } = await tested.post(`/flows/${kind}`, input(reference), by);
    if (status === 201) started.push(`${kind}/${reference}`);
    return status === 400 ? [status, body['data'].errors[0].path] : status;
  };
  const transfer = (name: string, prefix: string) => start(name, 'bridge-transfer', transferInput, prefix);
  const watch = (name: string, prefix: string) => start(name, 'kyc-check', (kycId) => ({ kycId }), prefix);

  it('are its own: it starts flows under them alone, and nobody else does', async () => {
    const refused = [400, 'provider_reference_id'];
    expect(await transfer('shop-a', 'A-')).toBe(201);
    expect([await transfer('shop-a', ''), await transfer('shop-a', 'B-')]).toEqual([refused, refused]);
    expect([await transfer('shop-b', 'A-'), await transfer('other', 'A-')]).toEqual([refused, refused]);
    expect(await transfer('other', '')).toBe(201);
  });

  it('are not those of what it only watches, and no other name watches under its prefix', async () => {
    expect(await watch('shop-a', '')).toBe(201);
    expect(await watch('other', 'A-')).toEqual([400, 'kycId']);
  });

  it.each(['shop-a', 'shop-a=', 'shop-a=A-,shop-a=B-', 'shop-a=A-,shop-b=A-1', 'shop-a=..'])(
    'cannot be set to %s',
    (text) => {
      expect(settingsAtFault({ GATEWAY_REFERENCE_PREFIXES: text })).toEqual(['GATEWAY_REFERENCE_PREFIXES']);
    },
  );
});
