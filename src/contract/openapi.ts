import type { OpenAPIV3_1 } from 'openapi-types';
import { z } from 'zod';
import type { Operation } from './operation.js';
import * as account from './account.js';
import * as bridge from './bridge.js';
import * as deposit from './deposit.js';
import * as events from './events.js';
import * as invoice from './invoice.js';
import * as offramp from './offramp.js';
import * as onramp from './onramp.js';
import * as withdrawal from './withdrawal.js';

export function describeOperation(operation: Operation): OpenAPIV3_1.OperationObject {
  return {
    operationId: operation.name,
    summary: operation.summary,
    tags: [operation.section],
    security: operation.auth === 'bearer' ? [{ bearer: [] }] : [],
    ...(operation.param === undefined ? {} : { parameters: [parameter(operation.param)] }),
    ...(operation.body === undefined
      ? {}
      : { requestBody: { required: true, ...json(refTo(operation.body), operation.example) } }),
    responses: {
      [String(operation.success ?? 200)]: { description: 'Success', ...json(envelopeOf(operation.data)) },
      '429': {
        description: 'Too many requests; nothing was taken.',
        headers: { 'Retry-After': { description: 'Seconds, or a date.', schema: { type: 'string' } } },
        ...json(refTo('ErrorBody')),
      },
      '4XX': { $ref: '#/components/responses/Error' },
      '5XX': { $ref: '#/components/responses/Error' },
    },
  };
}

const parameter = (name: string): OpenAPIV3_1.ParameterObject => ({
  name,
  in: 'path',
  required: true,
  schema: { type: 'string', pattern: '^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$' },
});

const json = (schema: OpenAPIV3_1.SchemaObject | OpenAPIV3_1.ReferenceObject, example?: unknown) => ({
  content: { 'application/json': { schema, ...(example === undefined ? {} : { example }) } },
});

/** "Common response envelope", with the operation's own data. */
const envelopeOf = (data: z.ZodType): OpenAPIV3_1.SchemaObject => ({
  type: 'object',
  required: ['success', 'message', 'data'],
  properties: { success: { type: 'boolean' }, message: { type: 'string' }, data: refTo(data) },
});

/** "Shape of an error response body: not shown"; the common part of the four documented ones. */
const ErrorBody = z.looseObject({
  success: z.literal(false).optional(),
  message: z.string().optional(),
  error_code: z.union([z.string(), z.number()]).optional(),
  data: z.looseObject({}).nullish(),
});

/** Every exported schema of the contract, by the name of its constant. */
const exported: Readonly<Record<string, unknown>> = {
  ...account,
  ...onramp,
  ...offramp,
  ...deposit,
  ...withdrawal,
  ...invoice,
  ...bridge,
  ...events,
  ErrorBody,
};
const named = new Map(
  Object.entries(exported).filter((entry): entry is [string, z.ZodType] => entry[1] instanceof z.ZodType),
);

const uri = (name: string) => `#/components/schemas/${name}`;

/** A reference to a schema, by name or by itself; a schema without a name is written out. */
function refTo(schema: string | z.ZodType): OpenAPIV3_1.SchemaObject | OpenAPIV3_1.ReferenceObject {
  if (typeof schema === 'string') return { $ref: uri(schema) };
  const [name] = [...named].find(([, known]) => known === schema) ?? [];
  return name === undefined ? { type: 'object' } : { $ref: uri(name) };
}

/** All schemas as JSON Schema, as they look on the wire (before our reading transforms them). */
export function componentSchemas(): Record<string, OpenAPIV3_1.SchemaObject> {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of named) registry.add(schema, { id });
  const { schemas } = z.toJSONSchema(registry, {
    io: 'input',
    target: 'draft-2020-12',
    unrepresentable: 'any',
    uri,
    override: ({ jsonSchema }) => showVocabulary(jsonSchema),
  });
  return Object.fromEntries(
    Object.entries(schemas).map(([name, { $schema: _schema, $id: _id, id: _name, ...schema }]) => [
      name,
      JSON.parse(JSON.stringify(schema)) as OpenAPIV3_1.SchemaObject,
    ]),
  );
}

/** Words of an answer are open: with an `enum`, readers would refuse the next word that the service invents. */
function showVocabulary(schema: Record<string, unknown>): void {
  // Our own hint for undoing the reading; not a word of JSON Schema.
  delete schema['wire'];
  const { vocabulary } = schema;
  if (!Array.isArray(vocabulary)) return;
  delete schema['vocabulary'];
  schema['x-extensible-enum'] = vocabulary;
  schema['examples'] = vocabulary.slice(0, 1);
}
