import { Agent } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createServiceClient, type ServiceClient } from '../../src/client/index.js';
import { answerJson, serveHttp, type ScriptedServer } from '../client/scripted-server.js';
import { inTurns } from '../faults/in-turns.js';
import { gatewayUnderTest, type GatewayUnderTest } from './setup/gateway-under-test.js';
import { createRandom } from './setup/random.js';
import { rawRequest } from './setup/raw-request.js';
import { transferInput } from './setup/transfers.js';

const COUNT = 5_000;
const BAD = [
  '..',
  '%2e%2e',
  '%2E.',
  '/',
  '%2f',
  '%5c',
  '\\',
  '%00',
  '\u0000',
  '\u0430',
  '\u2024',
  '％２ｅ',
  '%',
  '%zz',
];
const ALSO_BAD = [
  ' ',
  "'",
  '\u202e',
  '\r\n',
  '\u00e9',
  '%0d%0a',
  '+',
  '@',
  ';',
  '~',
  'a'.repeat(129),
  'a'.repeat(10_000),
];
const GOOD = ['a', 'Z', '9', ':', '-', '_', '.', 'offramp'];

describe('fault 44: strange references', () => {
  let tested: GatewayUnderTest;
  let service: ScriptedServer;
  let client: ServiceClient;
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });
  beforeAll(async () => {
    service = await serveHttp((response) => answerJson(response, 200, { success: true, message: 'ok', data: {} }));
    client = createServiceClient({ baseUrl: service.url, token: () => Promise.resolve('t'), timeoutMs: 5_000 });
    const env = { GATEWAY_RATE_LIMIT: '0' };
    tested = await gatewayUnderTest({
      temporalAddress: '127.0.0.1:1',
      env,
      gateway: { service: { client, token: () => Promise.resolve('t') } },
    });
  });
  afterAll(async () => {
    agent.destroy();
    await tested.close();
    client.close();
    await service.close();
  });

  it('5,000 of them, in paths, in bodies and handed to the client: requests to the service 0, 500s 0', async () => {
    const random = createRandom(44);
    const pieces = [...BAD, ...ALSO_BAD, ...GOOD];
    const strange = () => {
      const some = Array.from({ length: random.below(4) }, () => random.pick(pieces));
      // At least one that no reference may have, anywhere.
      some.splice(random.below(some.length + 1), 0, random.pick([...BAD, ...ALSO_BAD]));
      return some.join('');
    };
    const headers = { authorization: 'Bearer dev-token' };
    const wrong: string[] = [];
    const lookups = [client.getOfframp, client.getCryptoSend, client.getInvoice, client.getMobileMoneyDeposit];
    const texts = Array.from({ length: COUNT }, strange);
    await inTurns([...texts.entries()], 8, async ([n, text]) => {
      const lookup = lookups[n % lookups.length] as (reference: string) => Promise<unknown>;
      await lookup(text).then(
        () => wrong.push(`the client took ${text}`),
        (error: Error) => error.name === 'InvalidRequestError' || wrong.push(`${error.name} of ${text}`),
      );
      // As it stands, but for what cannot be written into a request line.
      const inPath = encodeURI(text.replace(/[\uD800-\uDFFF]/g, ''))
        .replace(/%25/g, '%')
        .slice(0, 6_000);
      const path = random.pick([
        `/flows/bridge-transfer/${inPath}/cancel`,
        `/callbacks/bridge-transfer/${inPath}/${'a'.repeat(43)}`,
        `/settlements/${inPath}`,
        `/events/${inPath}/replay`,
      ]);
      const answers = await Promise.all([
        n % 2 === 0
          ? rawRequest(tested.url, path, '{}', headers, agent)
          : rawRequest(tested.url, '/flows/bridge-transfer', JSON.stringify(transferInput(text)), headers, agent),
        n % 4 === 0
          ? rawRequest(tested.url, `/api/v3/offramp/${inPath}`, '', { ...headers, 'content-length': '0' }, agent, 'GET')
          : undefined,
      ]);
      for (const answer of answers) {
        if (answer !== undefined && ![400, 404].includes(answer.status)) wrong.push(`${answer.status} for ${text}`);
      }
    });
    expect(wrong.slice(0, 10)).toEqual([]);
    expect(service.seen.map(({ url }) => url)).toEqual([]);
    // And one that is none of them arrives.
    await client.getOfframp('a-plain-reference').catch(() => undefined);
    expect(service.seen.map(({ url }) => url)).toEqual(['/api/v3/offramp/a-plain-reference']);
  }, 120_000);
});

describe('fault 45: members that would change more than they say', () => {
  it('1,000 bodies with prototype keys, money twice or NaN, at every door: refused, polluted 0', async () => {
    const tested = await gatewayUnderTest({ temporalAddress: '127.0.0.1:1', env: { GATEWAY_RATE_LIMIT: '0' } });
    const agent = new Agent({ keepAlive: true, maxSockets: 8 });
    const random = createRandom(45);
    const before = Object.getOwnPropertyNames(Object.prototype).join();
    const input = JSON.stringify(transferInput('T-45'));
    const poisons = [
      '"__proto__":{"polluted":true}',
      '"\\u005f_proto__":{"polluted":true}',
      '"constructor":{"prototype":{"polluted":true}}',
      '"settlement_details":{"__proto__":{"amount":"1"}}',
      '"list":[[{"__proto__":null}]]',
      '"amount":"1250.50","amount":"0.01"',
      '"amount":1,"\\u0061mount":1',
      '"settlement":{"amount":"9.5","currency":"USD","amount":"9999"}',
      '"amount":NaN',
      '"amount":Infinity',
      '"amount":-Infinity',
      '"amount":0x10',
      '"amount":1_000',
      '"amount":01',
      '"amount":.5',
    ];
    const doors = [
      '/api/v3/deposit/crypto-bridge/webhook/provider/settlement',
      new URL(tested.gateway.inbound.settlement ?? '').pathname,
      new URL(tested.gateway.inbound.webhook).pathname,
      tested.callbackPath('T-45'),
      '/flows/bridge-transfer',
      '/flows/bridge-transfer/T-45/resolve',
      '/card-tokens',
      '/codec/encode',
    ];
    const statuses = await inTurns(
      Array.from({ length: 1_000 }, (_, n) => n),
      8,
      async () => {
        const poison = random.pick(poisons);
        const body = random.below(2) === 0 ? `{${poison},${input.slice(1)}` : `{"event":"e","data":{${poison}}}`;
        const headers = { authorization: 'Bearer dev-token' };
        return (await rawRequest(tested.url, random.pick(doors), body, headers, agent)).status;
      },
    );
    agent.destroy();
    const { byState } = await tested.store.inbox.counts();
    await tested.close();
    expect(new Set(statuses)).toEqual(new Set([400]));
    expect(Object.values(byState).every((count) => count === 0)).toBe(true);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
    expect(Object.getOwnPropertyNames(Object.prototype).join()).toBe(before);
  }, 60_000);
});
