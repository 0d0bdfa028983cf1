import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { BaseUrlError, createServiceClient, type ServiceClient } from '../../src/service-client/index.js';
import { operationNames, operations } from '../../src/contract/index.js';
import type { Operation } from '../../src/contract/operation.js';
import { REFERENCE_PATTERN } from '../../src/contract/sending.js';
import { bridgeDeposit } from './samples.js';
import { answerJson, serveHttp, type ScriptedServer } from './scripted-server.js';

let server: ScriptedServer;
let client: ServiceClient;
beforeAll(async () => {
  server = await serveHttp((response) => answerJson(response, 404, { success: false, message: 'Not found' }));
  client = createServiceClient({ baseUrl: server.url, token: () => Promise.resolve('t') });
});
beforeEach(() => {
  server.seen.splice(0);
});
afterAll(async () => {
  client.close();
  await server.close();
});

const call = (name: string, argument: unknown) =>
  (client as unknown as Record<string, (argument: unknown) => Promise<unknown>>)[name]?.(argument);

describe('the service client: references in paths', () => {
  it('never lead a request off its path, over 5,000 hostile ones', async () => {
    const hostile = fc.oneof(
      fc.constantFrom(
        '..',
        '.',
        '%2e%2e',
        '../x',
        'a/../b',
        'a%2f',
        'a\0',
        'a?b',
        'a#b',
        'a\\b',
        'аpple',
        ' a',
        'a\n',
        '',
      ),
      fc.constantFrom('http://evil.example/', '//evil.example', 'a..b', 'x'.repeat(10_000), 'A'.repeat(129)),
      fc.string({ unit: 'binary', maxLength: 40 }),
      fc.string({ unit: fc.constantFrom('a', '.', '/', '%', '2', 'e', ':', '\\', '?', '#', '@') }),
    );
    let sent = 0;
    await fc.assert(
      fc.asyncProperty(hostile, async (reference) => {
        const error = await client.getOfframp(reference).catch((caught: Error) => caught);
        const [seen] = server.seen.splice(0);
        if (REFERENCE_PATTERN.test(reference)) {
          sent += 1;
          expect(seen?.url).toBe(`/api/v3/offramp/${reference}`);
        } else {
          expect((error as Error).name).toBe('InvalidRequestError');
          expect(seen).toBeUndefined();
        }
      }),
      { numRuns: 5_000 },
    );
    expect(sent).toBeGreaterThan(0);
  });

  it.each(operationNames.filter((name) => 'param' in operations[name]))('reach the path of %s', async (name) => {
    await expect(call(name, 'r:1._-')).rejects.toMatchObject({ name: 'RejectedError', operation: name });
    const { path, param } = operations[name] as Operation;
    expect(server.seen[0]?.url).toBe(path.replace(`{${param}}`, 'r:1._-'));
  });
});

describe('the service client: bodies', () => {
  it.each([
    ['an unknown member', { ...bridgeDeposit, evil: 1 }, 'evil'],
    [
      'a member of a nested object',
      { ...bridgeDeposit, settlement: { ...bridgeDeposit.settlement, x: 1 } },
      'settlement.x',
    ],
    ['a missing member', { ...bridgeDeposit, wallet_id: undefined }, 'wallet_id'],
    ['a word that is not in the enumeration', { ...bridgeDeposit, chain: 'BITCOIN' }, 'chain'],
    ['an amount as text', { ...bridgeDeposit, amount: '50000' }, 'amount'],
    ['zero', { ...bridgeDeposit, amount: 0 }, 'amount'],
    ['a negative amount', { ...bridgeDeposit, amount: -1 }, 'amount'],
    ['NaN', { ...bridgeDeposit, amount: NaN }, 'amount'],
    ['Infinity', { ...bridgeDeposit, amount: Infinity }, 'amount'],
    ['2^53 + 1', { ...bridgeDeposit, amount: 2 ** 53 + 1 }, 'amount'],
    ['0.1 + 0.2', { ...bridgeDeposit, amount: 0.1 + 0.2 }, 'amount'],
    ['a reference off our grammar', { ...bridgeDeposit, provider_reference_id: '../x' }, 'provider_reference_id'],
    ['a callback to another scheme', { ...bridgeDeposit, callback_url: 'javascript:alert(1)' }, 'callback_url'],
    ['no body at all', undefined, ''],
  ])('with %s are refused before the network, with the member at fault', async (_, body, path) => {
    const error = await call('createBridgeDeposit', body)?.catch((caught: unknown) => caught);
    expect(error).toMatchObject({ name: 'InvalidRequestError', operation: 'createBridgeDeposit' });
    expect((error as { problems: { path: string }[] }).problems.map((problem) => problem.path)).toContain(path);
    expect(server.seen).toHaveLength(0);
  });

  it('go without the authorization header where the interface demands it, and with it everywhere else', async () => {
    const bodies: Record<string, unknown> = {
      verifyHuman: { verificationToken: 'v' },
      updateWebhook: { webhook_events: ['payment.confirmed'] },
      createBridgeDeposit: bridgeDeposit,
    };
    for (const [name, body] of Object.entries(bodies)) {
      await call(name, body)?.catch(() => undefined);
      expect('authorization' in (server.seen.splice(0)[0]?.headers ?? {})).toBe(name !== 'verifyHuman');
    }
  });
});

describe('the service client: its base address', () => {
  const make = (baseUrl: string, allowHttp?: boolean) =>
    createServiceClient({
      baseUrl,
      token: () => Promise.resolve('t'),
      ...(allowHttp === undefined ? {} : { allowHttp }),
    });

  it.each([
    'http://api.example',
    'ftp://api.example',
    'not a url',
    'https://u:p@api.example',
    'https://a.example/?x=1',
    '',
  ])('cannot be %j', (baseUrl) => expect(() => make(baseUrl)).toThrow(BaseUrlError));

  it('may be http on loopback, or if a setting allows it', () => {
    for (const baseUrl of ['http://127.0.0.1:1', 'http://localhost:1', 'http://[::1]:1', 'https://api.example/v'])
      expect(() => make(baseUrl)).not.toThrow();
    expect(() => make('http://service.internal', true)).not.toThrow();
  });

  it('keeps its own path in front of the paths of the interface', async () => {
    const prefixed = createServiceClient({ baseUrl: `${server.url}/proxy/`, token: () => Promise.resolve('t') });
    await prefixed.getInvoice('ref-1').catch(() => undefined);
    prefixed.close();
    expect(server.seen[0]?.url).toBe('/proxy/api/v3/cross-boarder/invoice/ref-1');
  });
});
