import type { OpenAPIV3_1 } from 'openapi-types';
import { componentSchemas } from '../../contract/openapi.js';
import { FLOW_KINDS } from '../../protocol/vocabulary.js';
import { TAGS } from '../http/openapi.js';
import { Refused, ServiceRefused } from '../../api/refusal.js';
import type { Settings } from '../../config/settings-shape.js';
import type { AddedRoute } from '../http/server.js';
import { json, toSchema } from './describe-route.js';

const RETRY_AFTER = { 'Retry-After': { description: 'Seconds.', schema: { type: 'string' as const } } };
const SAFE_AGAIN =
  'One reference is one flow: the same request is safe again with its reference, which the answer has if it is known. ' +
  'If the caller gave none, that one has to be sent along: without it, it is another payment.';

/** Of the two listeners. */
export type Urls = Pick<Settings, 'gatewayUrl' | 'publicUrl'>;

/**
 * The gateway's whole HTTP interface as an OpenAPI 3.1 document, from its routes: the service's operations, flows,
 * events, endpoints. It contains exactly what the routes declare; a route without an entry of its own is left out.
 */
export function gatewayDocument({ gatewayUrl, publicUrl }: Urls, routes: readonly AddedRoute[]): OpenAPIV3_1.Document {
  const paths: Record<string, Record<string, OpenAPIV3_1.OperationObject>> = {};
  const schemas = {
    ...componentSchemas(),
    FlowKind: { type: 'string' as const, enum: [...FLOW_KINDS] },
    Refused: toSchema(Refused, 'output'),
    ServiceRefused: toSchema(ServiceRefused, 'output'),
  };
  const sections = new Set<string>();
  for (const { method, url, reference } of routes) {
    const described = reference?.();
    if (described === undefined) continue;
    const isPublic = gatewayUrl !== publicUrl && described.operation.tags?.includes('inbound') === true;
    const servers = isPublic ? { servers: [{ url: publicUrl }] } : {};
    (paths[url.replace(/:(\w+)/g, '{$1}')] ??= {})[method.toLowerCase()] = { ...described.operation, ...servers };
    Object.assign(schemas, described.schemas);
    for (const tag of described.operation.tags ?? []) if (!(tag in TAGS)) sections.add(tag);
  }
  return withoutUnusedSchemas({
    openapi: '3.1.0',
    info: {
      title: 'Towline gateway',
      version: '1',
      summary: 'Durable money flows over a payments service.',
      description: 'Amounts of flows are decimal strings; those of the service’s own operations are JSON numbers.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: gatewayUrl }],
    tags: [
      ...Object.entries(TAGS).map(([name, description]) => ({ name, description })),
      ...[...sections].map((name) => ({ name, description: `The service's own interface: ${name}.` })),
    ],
    paths,
    components: {
      schemas,
      securitySchemes: { token: { type: 'http', scheme: 'bearer', description: 'A gateway token.' } },
      responses: {
        Refused: { description: 'Refused; nothing was sent unless the sentence says otherwise.', ...json('Refused') },
        Unavailable: {
          description: `Not now. ${SAFE_AGAIN}`,
          headers: RETRY_AFTER,
          ...json('Refused'),
        },
        ServiceRefused: {
          description: 'Refused, by the service (with its own body) or by the gateway; `towline` says which.',
          ...json('ServiceRefused'),
        },
        ServiceUnavailable: {
          description: `Not now. ${SAFE_AGAIN} Reads and account operations have the answer of the service as it is.`,
          headers: RETRY_AFTER,
          ...json('ServiceRefused'),
        },
      },
    },
  });
}

/** Removes what only the contract's own document shows. */
function withoutUnusedSchemas(document: OpenAPIV3_1.Document): OpenAPIV3_1.Document {
  const schemas = document.components?.schemas ?? {};
  const used = new Set<string>();
  const use = (part: unknown): void => {
    for (const [, name = ''] of JSON.stringify(part).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      if (used.has(name) || !(name in schemas)) continue;
      used.add(name);
      use(schemas[name]);
    }
  };
  const { schemas: _schemas, ...components } = document.components ?? {};
  use([document.paths, components]);
  const kept = Object.fromEntries(Object.entries(schemas).filter(([name]) => used.has(name)));
  return { ...document, components: { ...components, schemas: kept } };
}
