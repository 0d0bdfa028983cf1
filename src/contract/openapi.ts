import type { OpenAPIV3_1 } from 'openapi-types';
import type { z } from 'zod';
import { ON_CHAIN_DEPOSIT_EVENT } from './events.js';
import { operations } from './index.js';
import type { Operation } from './operation.js';
import { componentSchemas, refTo } from './openapi-schemas.js';

/** Where the described interface is served: the service itself, our sandbox, or the proxy. */
export interface OpenApiOptions {
  readonly serverUrl: string;
  readonly title: string;
}

/** The interface as an OpenAPI 3.1 document, derived from `operations`. JSON only, without functions or undefined. */
export function openApiDocument({ serverUrl, title }: OpenApiOptions): OpenAPIV3_1.Document {
  const paths: Record<string, Record<string, OpenAPIV3_1.OperationObject>> = {};
  for (const operation of Object.values(operations)) {
    (paths[operation.path] ??= {})[operation.method.toLowerCase()] = describe(operation);
  }
  return {
    openapi: '3.1.0',
    info: {
      title,
      version: 'v3',
      description: 'Amounts are JSON numbers in requests; answers may carry them as text.',
    },
    servers: [{ url: serverUrl }],
    tags: [...new Set(Object.values(operations).map(({ section }) => section))].map((name) => ({ name })),
    paths,
    webhooks: { [ON_CHAIN_DEPOSIT_EVENT]: { post: onChainDepositEvent() } as OpenAPIV3_1.PathItemObject },
    components: {
      schemas: componentSchemas(),
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer', description: 'Session token or API key.' } },
      responses: { Error: { description: 'Refused; the shape is not fixed.', ...json(refTo('ErrorBody')) } },
    },
  };
}

function describe(operation: Operation): OpenAPIV3_1.OperationObject {
  return {
    operationId: operation.name,
    summary: operation.summary,
    tags: [operation.section],
    security: operation.auth === 'bearer' ? [{ bearer: [] }] : [],
    ...(operation.param === undefined ? {} : { parameters: [parameter(operation.param)] }),
    ...(operation.body === undefined ? {} : { requestBody: { required: true, ...json(refTo(operation.body)) } }),
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

const onChainDepositEvent = (): OpenAPIV3_1.OperationObject => ({
  summary: 'The only event whose shape the interface shows.',
  requestBody: { required: true, ...json(refTo('OnChainDepositEvent')) },
  responses: { '200': { description: 'Received' } },
});

const parameter = (name: string): OpenAPIV3_1.ParameterObject => ({
  name,
  in: 'path',
  required: true,
  schema: { type: 'string', pattern: '^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$' },
});

const json = (schema: OpenAPIV3_1.SchemaObject | OpenAPIV3_1.ReferenceObject) => ({
  content: { 'application/json': { schema } },
});

/** "Common response envelope", with the operation's own data. */
const envelopeOf = (data: z.ZodType): OpenAPIV3_1.SchemaObject => ({
  type: 'object',
  required: ['success', 'message', 'data'],
  properties: { success: { type: 'boolean' }, message: { type: 'string' }, data: refTo(data) },
});
