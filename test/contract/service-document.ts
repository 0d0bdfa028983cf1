import type { OpenAPIV3_1 } from 'openapi-types';
import { ON_CHAIN_DEPOSIT_EVENT } from '../../src/contract/events.js';
import { operations } from '../../src/contract/index.js';
import { componentSchemas, describeOperation } from '../../src/contract/openapi.js';

const content = (name: string) => ({ 'application/json': { schema: { $ref: `#/components/schemas/${name}` } } });

/** The service's interface as an OpenAPI 3.1 document, from the parts of which the gateway makes its own. */
export function serviceDocument(serverUrl: string, title: string): OpenAPIV3_1.Document {
  const paths: Record<string, Record<string, OpenAPIV3_1.OperationObject>> = {};
  for (const operation of Object.values(operations)) {
    (paths[operation.path] ??= {})[operation.method.toLowerCase()] = describeOperation(operation);
  }
  const event = {
    summary: 'The only event whose shape the interface shows.',
    requestBody: { required: true, content: content('OnChainDepositEvent') },
    responses: { '200': { description: 'Received' } },
  };
  return {
    openapi: '3.1.0',
    info: { title, version: 'v3' },
    servers: [{ url: serverUrl }],
    tags: [...new Set(Object.values(operations).map(({ section }) => section))].map((name) => ({ name })),
    paths,
    webhooks: { [ON_CHAIN_DEPOSIT_EVENT]: { post: event } },
    components: {
      schemas: componentSchemas(),
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer', description: 'Session token or API key.' } },
      responses: { Error: { description: 'Refused; the shape is not fixed.', content: content('ErrorBody') } },
    },
  };
}
