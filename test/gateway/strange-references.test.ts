import { Agent } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readJson, UnreadableJsonError } from '../../src/gateway/http/json-body.js';
import { inTurns } from '../../src/in-turns.js';
import { rawRequest } from './setup/raw-request.js';
import {
  openStrangersBench,
  strangeReferences,
  takenInProcess,
  takenOverHttp,
  type StrangersBench,
} from './setup/strange-references.js';
import { gatewayUnderTest } from './setup/gateway-under-test.js';
import { transferInput } from '../harness/inputs.js';

const COUNT = 5_000;

describe('fault 44: strange references', () => {
  let bench: StrangersBench;
  beforeAll(async () => {
    bench = await openStrangersBench();
  });
  afterAll(() => bench.close());
  const urls = () => bench.service.seen.map(({ url }) => url);

  it('5,000 of them are refused by the grammar of paths, by the input of a flow, and by the client', async () => {
    const references = strangeReferences(COUNT);
    expect(references).toHaveLength(COUNT);
    expect((await takenInProcess(bench.client, references)).slice(0, 10)).toEqual([]);
    expect(urls()).toEqual([]);
  });

  it('20 of them, in paths and bodies to a gateway: requests to the service 0, 500s 0', async () => {
    expect(await takenOverHttp(bench, strangeReferences(20))).toEqual([]);
    expect(urls()).toEqual([]);
    // And a valid one arrives.
    await bench.client.getOfframp('a-plain-reference').catch(() => undefined);
    expect(urls()).toEqual(['/api/v3/offramp/a-plain-reference']);
  });
});

describe('fault 45: members that would change more than they say', () => {
  const input = JSON.stringify(transferInput('T-45'));
  const bodies = [
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
  ].flatMap((poison) => [`{${poison},${input.slice(1)}`, `{"event":"e","data":{${poison}}}`]);

  it(`prototype keys, money twice and NaN, in ${bodies.length} bodies at each of eight endpoints: refused, polluted 0`, async () => {
    const tested = await gatewayUnderTest({
      temporalAddress: '127.0.0.1:1',
      env: { GATEWAY_RATE_LIMIT: '0', UNPROVEN_RATE_LIMIT: '0' },
    });
    const agent = new Agent({ keepAlive: true, maxSockets: 8 });
    const before = Object.getOwnPropertyNames(Object.prototype).join();
    const endpoints = [
      '/api/v3/deposit/crypto-bridge/webhook/provider/settlement',
      new URL(tested.gateway.inbound.settlement ?? '').pathname,
      new URL(tested.gateway.inbound.webhook).pathname,
      tested.callbackPath('T-45'),
      '/flows/bridge-transfer',
      '/flows/bridge-transfer/T-45/resolve',
      '/card-tokens',
      '/codec/encode',
    ];
    const headers = { authorization: 'Bearer dev-token' };
    const sent = endpoints.flatMap((path) => bodies.map((body) => ({ path, body })));
    const statuses = await inTurns(
      sent,
      8,
      async ({ path, body }) => (await rawRequest(tested.url, path, body, headers, agent)).status,
    );
    agent.destroy();
    const rows = await tested.store.inbox.list({});
    await tested.close();
    expect(statuses).toHaveLength(240);
    expect(new Set(statuses)).toEqual(new Set([400]));
    expect(rows).toEqual([]);
    for (const body of bodies) expect(() => readJson(Buffer.from(body))).toThrow(UnreadableJsonError);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
    expect(Object.getOwnPropertyNames(Object.prototype).join()).toBe(before);
  });
});
