import { accessOf } from '../harness/service.js';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Validator } from '@seriousme/openapi-schema-validator';
import { createServiceClient } from '../../src/service-client/index.js';
import { operationNames } from '../../src/contract/index.js';
import { FLOW_KINDS } from '../../src/protocol/vocabulary.js';
import type { Answer } from '../harness/service.js';
import { gatewayUnderTest, type GatewayUnderTest } from './setup/gateway-under-test.js';

interface Described {
  readonly method: string;
  readonly path: string;
  readonly operation: Answer;
}

describe('the API reference', () => {
  let tested: GatewayUnderTest;
  let document: Answer;
  let described: readonly Described[];
  beforeAll(async () => {
    // The service is never called: its client is there so that its routes are.
    const client = createServiceClient({ baseUrl: 'http://127.0.0.1:9', token: () => Promise.resolve('unused') });
    tested = await gatewayUnderTest({ gateway: { service: accessOf(client, 'unused') } });
    document = (await (await fetch(`${tested.url}/openapi.json`)).json()) as Answer;
    described = Object.entries(document['paths'] as Record<string, Record<string, Answer>>).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
    );
  });
  afterAll(() => tested.close());

  it('is a valid OpenAPI 3.1 document', async () => {
    expect(await new Validator().validate(structuredClone(document))).toEqual({ valid: true });
  });

  it('passes the recommended rules of a public linter', async () => {
    const config = await createConfig({ extends: ['recommended'] });
    const problems = await lintFromString({ source: JSON.stringify(document), config });
    expect(problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} at ${location[0]?.pointer}`)).toEqual(
      [],
    );
  });

  it('describes every route of the gateway, but for what machines know and a start of no kind', () => {
    const without = tested.gateway.routes.filter(({ reference }) => reference === undefined);
    const known = /^\w+ \/(codec\/|metrics$|openapi\.json$|(docs|console)(\/|$)|$)/;
    const names = without.map(({ method, url }) => `${method} ${url}`);
    expect(names.filter((route) => !known.test(route))).toEqual(['POST /flows/:kind']);
    expect(described).toHaveLength(tested.gateway.routes.length - without.length);
    const starts = described.filter(({ path }) => /^\/flows\/[a-z-]+$/.test(path)).map(({ path }) => path);
    expect(starts.toSorted()).toEqual(FLOW_KINDS.map((kind) => `/flows/${kind}`).toSorted());
  });

  it("has the service's own operations at their own paths, each with an example of its body", () => {
    const operations = described.map(({ operation }) => operation);
    const ids = operations.map(({ operationId }) => operationId as string);
    expect(new Set(ids).size).toBe(ids.length);
    expect(operationNames.filter((name) => !ids.includes(name))).toEqual(['reportSettlement']);
    const bodies = operations.filter(
      ({ operationId, requestBody }) => operationNames.includes(operationId) && requestBody,
    );
    const withoutExample = bodies.filter(
      ({ requestBody }) => requestBody.content['application/json'].example === undefined,
    );
    expect(withoutExample.map(({ operationId }) => operationId)).toEqual([]);
    expect(bodies).toHaveLength(13);
  });

  it('lists for each operation of the service what the gateway does with it', () => {
    const passed = described.filter(({ path }) => path.startsWith('/api/'));
    expect(passed).toHaveLength(22);
    // Only what belongs to a flow says where that is.
    for (const { operation } of passed) {
      const { '202': underWay, ...others } = operation['responses'] as Record<string, { headers?: object }>;
      const isMoney = underWay !== undefined;
      expect(Object.values(others).some(({ headers = {} }) => 'Location' in headers)).toBe(isMoney);
    }
    expect(passed.filter(({ operation }) => !/\w{4}/.test(operation['description'])).map(({ path }) => path)).toEqual(
      [],
    );
  });

  it('shows an event as an example at the one URL of events that is the same for everyone', () => {
    const inbound = described.filter(({ operation }) => (operation['tags'] as string[]).includes('inbound'));
    const examples = inbound.flatMap(({ path, operation }) => {
      const { example } = operation['requestBody'].content['application/json'];
      return example === undefined ? [] : [[path, Object.keys(example as object)]];
    });
    expect(inbound.length).toBeGreaterThan(2);
    expect(examples).toEqual([[expect.stringMatching(/settlement$/), ['provider_reference_id', 'status']]]);
  });

  it('names a second person for the orders that may wait for one, and for no other', () => {
    const mayWait = described.filter(
      ({ path, operation }) => !path.startsWith('/api/') && '202' in operation['responses'],
    );
    expect(mayWait.map(({ operation }) => operation['operationId'] as string).toSorted()).toEqual([
      'approveQuote',
      'replayEvent',
      'resolveFlow',
    ]);
  });

  it('refers only to schemas that it holds', () => {
    const schemas = Object.keys((document['components'] as Answer)['schemas'] as object);
    const refs = JSON.stringify(document).matchAll(/"#\/components\/schemas\/(\w+)"/g);
    expect([...refs].map(([, name = '']) => name).filter((name) => !schemas.includes(name))).toEqual([]);
  });

  it('gives a name to each form of an input that has several: some generators make no type of it without', () => {
    const { schemas } = document['components'] as { schemas: Record<string, Answer> };
    expect(schemas['InvoicePaymentInput']).toEqual({
      anyOf: [
        { $ref: '#/components/schemas/InvoicePaymentInputGenerated' },
        { $ref: '#/components/schemas/InvoicePaymentInputExisting' },
      ],
    });
    const unnamed = Object.entries(schemas).filter(([, { anyOf, oneOf }]) =>
      (anyOf ?? oneOf ?? []).some(({ type }: Answer) => type === 'object'),
    );
    expect(unnamed.map(([name]) => name)).toEqual([]);
    const { required } = schemas['InvoicePaymentInputGenerated'] as { required: string[] };
    expect(required).toContain('bank');
    expect(required).not.toContain('pay');
  });

  it('starts a card deposit by a card, or by the token that was given for one, but not by both', () => {
    const { schemas } = document['components'] as { schemas: Record<string, Answer> };
    const { anyOf } = schemas['CardDepositInput'] as { anyOf: { $ref: string }[] };
    const forms = anyOf.map(({ $ref }) => $ref.split('/').at(-1));
    expect(forms).toEqual(['CardDepositInputCard', 'CardDepositInputToken']);
    const [card, token] = forms.map((name = '') => schemas[name] as { required: string[]; properties: object });
    expect([card?.required, token?.required].map((names) => names?.filter((name) => name.startsWith('card')))).toEqual([
      ['card'],
      ['cardToken'],
    ]);
    const has = (form: typeof card) => Object.keys(form?.properties ?? {}).filter((name) => /^card|^masked/.test(name));
    expect([has(card), has(token)]).toEqual([['card'], ['cardToken', 'masked']]);
  });

  it('has a page, which loads nothing from anywhere else', async () => {
    const page = await fetch(`${tested.url}/docs`);
    const html = await page.text();
    const loaded = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, url = '']) => url);
    expect(loaded).toHaveLength(4);
    for (const url of loaded) {
      expect(url).toMatch(/^\/docs\//);
      const answer = await fetch(tested.url + url);
      // Read, since its connection stays open otherwise.
      expect([answer.status, (await answer.text()) === '']).toEqual([200, false]);
    }
    expect(page.headers.get('content-security-policy')).toMatch(/script-src 'self'(;|$)/);
    expect(page.headers.get('x-content-type-options')).toBe('nosniff');
  });

  const fill = (path: string) =>
    path
      .replace('{kind}', 'onramp')
      .replace('{id}', 'evt_none')
      .replaceAll(/\{\w+\}/g, 'none-1');

  it('lists for each path whether it takes a token: without one it is answered 401, with the scheme to use', async () => {
    const guarded = described.filter(({ operation }) => operation['security'].length > 0);
    expect(guarded.length).toBeGreaterThan(40);
    const answers = await Promise.all(
      guarded.map(async ({ method, path }) => {
        const answer = await fetch(tested.url + fill(path), { method });
        await answer.text();
        return `${path} ${answer.status} ${answer.headers.get('www-authenticate')}`;
      }),
    );
    expect(answers).toEqual(guarded.map(({ path }) => `${path} 401 Bearer`));
  });

  it('takes the content type without a body if the body is optional, and requires one elsewhere', async () => {
    const send = async ({ method, path }: Described) => {
      const headers = { authorization: 'Bearer dev-token', 'content-type': 'application/json' };
      const answer = await fetch(tested.url + fill(path), { method, headers, body: '' });
      return [answer.status, ((await answer.json()) as Answer)['success']];
    };
    const withBody = described.filter(({ path, operation }) => operation.requestBody && !path.includes('{capability}'));
    const optional = withBody.filter(({ operation }) => !operation.requestBody.required);
    const names = optional.map(({ path }) => path.split('/').at(-1) ?? '');
    expect(names.toSorted()).toEqual(['approve-quote', 'cancel', 'erase', 'replay', 'withdraw', 'withdraw']);
    for (const route of optional) expect([route.path, (await send(route))[0]]).toEqual([route.path, 404]);
    for (const route of withBody.filter((one) => !optional.includes(one))) {
      expect([route.path, ...(await send(route))]).toEqual([route.path, 400, false]);
    }
  });
});
