import { accessOf } from '../harness/service.js';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Validator } from '@seriousme/openapi-schema-validator';
import { createServiceClient } from '../../src/service-client/index.js';
import { operationNames } from '../../src/contract/index.js';
import { gatewayDocument } from '../../src/gateway/reference/document.js';
import { FLOW_KINDS } from '../../src/protocol/vocabulary.js';
import type { Answer } from '../harness/service.js';
import { gatewayUnderTest, type GatewayUnderTest } from './setup/gateway-under-test.js';

const document = gatewayDocument('https://towline.shop.example') as Answer;

/** `METHOD /path/{parameter}` of all that the document describes. */
const described = Object.entries(document['paths'] as Record<string, Record<string, unknown>>).flatMap(
  ([path, methods]) => Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
);

describe('the API reference', () => {
  let tested: GatewayUnderTest;
  beforeAll(async () => {
    // Nothing is asked of the service: its client is there so that its routes are.
    const client = createServiceClient({ baseUrl: 'http://127.0.0.1:9', token: () => Promise.resolve('unused') });
    tested = await gatewayUnderTest({ gateway: { service: accessOf(client, 'unused') } });
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

  it('describes every route that the gateway has, and no other', () => {
    // What is for machines of Temporal, for Prometheus, and the reference itself.
    const untold = /^\w+ \/(codec\/|metrics$|openapi\.json$|docs(\/|$)|$)/;
    // One path for the reader, a path for each kind in the document.
    const startOfAnyKind = 'POST /flows/{kind}';
    const had = tested.gateway.routes
      .map(({ method, url }) => `${method} ${url.replace(/:(\w+)/g, '{$1}')}`)
      .filter((route) => !untold.test(route) && route !== startOfAnyKind);
    const starts = FLOW_KINDS.map((kind) => `POST /flows/${kind}`);
    expect(described.toSorted()).toEqual([...had, ...starts].toSorted());
  });

  it("has the service's own operations at their own paths, each with an example of its body", () => {
    const operations = Object.values(document['paths'] as Record<string, Record<string, Answer>>).flatMap((path) =>
      Object.values(path),
    );
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

  it('is served, and its page loads nothing from anywhere else', async () => {
    const served = await fetch(`${tested.url}/openapi.json`);
    expect(((await served.json()) as Answer)['paths']).toEqual(document['paths']);
    const page = await fetch(`${tested.url}/docs`);
    const html = await page.text();
    const loaded = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, url = '']) => url);
    expect(loaded).toHaveLength(4);
    for (const url of loaded) {
      expect(url).toMatch(/^\/docs\//);
      expect((await fetch(tested.url + url)).status).toBe(200);
    }
    expect(page.headers.get('content-security-policy')).toMatch(/script-src 'self'(;|$)/);
    expect(page.headers.get('x-content-type-options')).toBe('nosniff');
  });
});
