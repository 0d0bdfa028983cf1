import { describe, expect, it } from '@jest/globals';
import { Validator } from '@seriousme/openapi-schema-validator';
import { operationNames, operations } from '../../src/contract/index.js';
import type { Operation } from '../../src/contract/operation.js';
import { serviceDocument } from './service-document.js';

const document = serviceDocument('https://service.example', 'The service');

function* refsIn(value: unknown): Generator<string> {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    if (key === '$ref') yield String(inner);
    else yield* refsIn(inner);
  }
}

const resolve = (ref: string): unknown =>
  ref
    .replace('#/', '')
    .split('/')
    .reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key.replaceAll('~1', '/')], document);

describe('the OpenAPI document of the service', () => {
  it('is valid by the meta schema of OpenAPI 3.1', async () => {
    const copy = JSON.parse(JSON.stringify(document)) as Record<string, unknown>;
    expect(await new Validator().validate(copy)).toEqual({ valid: true });
  });

  it('refers only to what it holds, and is plain JSON', () => {
    const refs = [...refsIn(document)];
    expect(refs.length).toBeGreaterThan(60);
    expect(refs.filter((ref) => resolve(ref) === undefined)).toEqual([]);
    expect(JSON.parse(JSON.stringify(document))).toEqual(document);
  });

  it('describes all 22 operations, with the header if the interface requires it', () => {
    const described = Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
      Object.entries(item ?? {}).map(([method, operation]) => ({ path, method, ...(operation as object) })),
    ) as { path: string; method: string; operationId: string; security: unknown[]; requestBody?: unknown }[];
    expect(described.map(({ operationId }) => operationId).sort()).toEqual([...operationNames].sort());
    for (const { path, method, operationId, security, requestBody } of described) {
      const operation = operations[operationId as keyof typeof operations] as Operation;
      expect([path, method]).toEqual([operation.path, operation.method.toLowerCase()]);
      expect(security).toEqual(operation.auth === 'bearer' ? [{ bearer: [] }] : []);
      expect(requestBody !== undefined).toBe(operation.body !== undefined);
    }
  });

  it('closes what we send and keeps open what we read', () => {
    const schemas = document.components?.schemas as Record<string, Record<string, Record<string, unknown>>>;
    const member = (schema: string, name: string) => schemas[schema]?.['properties']?.[name];
    expect(schemas['BridgeDepositRequest']?.['additionalProperties']).toBe(false);
    expect(schemas['BridgeDeposit']?.['additionalProperties']).not.toBe(false);
    const status = member('BridgeDeposit', 'status');
    expect(status).toMatchObject({
      type: 'string',
      'x-extensible-enum': expect.arrayContaining(['COMPLETED']) as unknown,
    });
    expect(status).not.toHaveProperty('enum');
    const sent = member('BridgeDepositRequest', 'amount');
    expect(sent).toMatchObject({ type: 'number', exclusiveMinimum: 0 });
  });
});
