import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { OpenAPIV3_1 } from 'openapi-types';
import type { FlowKind } from '../../flows/vocabulary.js';
import { packageRoot } from '../../temporal/package-root.js';
import { callbackEntries, cardEntries, eventEntries, inboundEntries, operationEntries } from './entries.js';
import { flowEntries, startEntries } from './flow-entries.js';
import { describe, json, TAGS } from './entry.js';
import { proxyPaths } from './proxy-paths.js';
import { gatewaySchemas, queryParameters } from './schemas.js';

/** The gateway's whole HTTP interface as an OpenAPI 3.1 document: the service's operations, flows, events, doors. */
export function gatewayDocument(publicUrl: string): OpenAPIV3_1.Document {
  const paths: Record<string, Record<string, OpenAPIV3_1.OperationObject>> = proxyPaths();
  const sections = [
    ...new Set(Object.values(paths).flatMap((path) => Object.values(path).flatMap(({ tags = [] }) => tags))),
  ];
  for (const entry of [
    ...startEntries(exampleOf),
    ...flowEntries,
    ...eventEntries,
    ...callbackEntries,
    ...cardEntries,
    ...inboundEntries,
    ...operationEntries,
  ]) {
    (paths[entry.path] ??= {})[entry.method] = describe(entry, queryParameters);
  }
  return withoutUnusedSchemas({
    openapi: '3.1.0',
    info: {
      title: 'Towline gateway',
      version: '1',
      summary: 'Money flows over a payments service, durable.',
      description: 'Amounts of flows are decimal strings; those of the service’s own operations are JSON numbers.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: publicUrl }],
    tags: [
      ...Object.entries(TAGS).map(([name, description]) => ({ name, description })),
      ...sections.map((name) => ({ name, description: `The service's own interface: ${name}.` })),
    ],
    paths,
    components: {
      schemas: gatewaySchemas(),
      securitySchemes: { token: { type: 'http', scheme: 'bearer', description: 'A gateway token.' } },
      responses: {
        Refused: { description: 'Refused; nothing was sent unless the sentence says otherwise.', ...json('Refused') },
        Unavailable: {
          description:
            'Not now. One reference is one flow: the same request is safe again with its reference, which is in `data` ' +
            'where it is known. Where the caller gave none, that one has to be sent along: without it, it is another payment.',
          headers: { 'Retry-After': { description: 'Seconds.', schema: { type: 'string' } } },
          ...json('Refused'),
        },
      },
    },
  });
}

/** Without what only the contract's own document shows. */
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

/** The input of the kind that stands in `examples/`. */
function exampleOf(kind: FlowKind): unknown {
  try {
    return JSON.parse(readFileSync(join(packageRoot(), 'examples', `${kind}.json`), 'utf8')) as unknown;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
