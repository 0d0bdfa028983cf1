import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { OpenAPIV3_1 } from 'openapi-types';
import type { FlowKind } from '../../protocol/vocabulary.js';
import { packageRoot } from '../../package-root.js';
import { reportSettlement } from '../../contract/bridge.js';
import { flowEntries, startEntries } from './flow-entries.js';
import { describe, json, TAGS, type Entry } from './entry.js';
import { proxyPaths } from './proxy-paths.js';
import { gatewaySchemas, queryParameters } from './schemas.js';

const RETRY_AFTER = { 'Retry-After': { description: 'Seconds.', schema: { type: 'string' as const } } };
const SAFE_AGAIN =
  'One reference is one flow: the same request is safe again with its reference, which the answer has if it is known. ' +
  'If the caller gave none, that one has to be sent along: without it, it is another payment.';

/** The gateway's whole HTTP interface as an OpenAPI 3.1 document: the service's operations, flows, events, endpoints. */
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

const FLOW = '/flows/{kind}/{reference}';

const eventEntries: readonly Entry[] = [
  {
    method: 'get',
    path: `${FLOW}/events`,
    operationId: 'listEventsOfFlow',
    tag: 'events',
    summary: 'Lists the events of a flow, newest first.',
    role: 'flows',
    query: 'EventQuery',
    answers: { 200: { says: 'Events, without their bodies.', schema: 'EventList' } },
  },
  {
    method: 'get',
    path: '/events',
    operationId: 'listEvents',
    tag: 'events',
    summary: 'Lists events, newest first.',
    role: 'flows',
    query: 'EventQuery',
    answers: { 200: { says: 'Events, without their bodies.', schema: 'EventList' } },
  },
  {
    method: 'get',
    path: '/events/{id}',
    operationId: 'showEvent',
    tag: 'events',
    summary: 'Shows an event with its body, which may hold personal data.',
    role: 'operator',
    answers: { 200: { says: 'The event.', schema: 'Event' } },
  },
  {
    method: 'post',
    path: '/events/{id}/replay',
    operationId: 'replayEvent',
    tag: 'events',
    summary: 'Delivers an event anew; `trust` vouches for it; `dryRun` only says what would happen.',
    role: 'operator',
    body: { schema: 'ReplayBody', required: false, example: { dryRun: true } },
    answers: { 200: { says: 'What happened, or would.', schema: 'Replay' } },
  },
];

const callbackEntries: readonly Entry[] = [
  {
    method: 'get',
    path: '/callbacks',
    operationId: 'listCallbacks',
    tag: 'callbacks',
    summary: 'Lists flows whose callbacks could not be delivered, or are being delivered.',
    role: 'flows',
    query: 'CallbackQuery',
    answers: { 200: { says: 'Flows, newest first.', schema: 'CallbackList' } },
  },
  {
    method: 'get',
    path: `${FLOW}/callbacks`,
    operationId: 'showCallbacks',
    tag: 'callbacks',
    summary: 'Shows how far the callbacks of a flow got.',
    role: 'flows',
    answers: { 200: { says: 'The callbacks.', schema: 'Callbacks' } },
  },
  {
    method: 'post',
    path: `${FLOW}/callbacks/resend`,
    operationId: 'resendCallback',
    tag: 'callbacks',
    summary: 'Sends the newest change again.',
    role: 'operator',
    answers: { 200: { says: 'The callbacks.', schema: 'Callbacks' } },
  },
];

const received = { 200: { says: 'Stored, or known already.', schema: 'Received' } } as const;

const inboundEntries: readonly Entry[] = [
  {
    method: 'post',
    path: reportSettlement.path,
    operationId: 'receiveSettlement',
    tag: 'inbound',
    summary: "The interface's settlement path. Anybody may post; what nothing proves moves nothing.",
    role: null,
    body: { schema: 'AnyEvent', required: true, example: { provider_reference_id: 'order-1001', status: 'COMPLETED' } },
    answers: received,
  },
  {
    method: 'post',
    path: '/settlements/{capability}',
    operationId: 'receiveSettlementByCapability',
    tag: 'inbound',
    summary: 'For a settlement provider that cannot sign.',
    role: null,
    body: { schema: 'AnyEvent', required: true },
    answers: received,
  },
  {
    method: 'post',
    path: '/webhooks/{capability}',
    operationId: 'receiveWebhook',
    tag: 'inbound',
    summary: "The service's account-wide webhooks.",
    role: null,
    body: { schema: 'AnyEvent', required: true },
    answers: received,
  },
  {
    method: 'post',
    path: '/callbacks/{kind}/{reference}/{capability}',
    operationId: 'receiveCallback',
    tag: 'inbound',
    summary: "The service's callbacks about one flow.",
    role: null,
    body: { schema: 'AnyEvent', required: true },
    answers: received,
  },
];

const cardEntries: readonly Entry[] = [
  {
    method: 'post',
    path: '/card-tokens',
    operationId: 'keepCard',
    tag: 'cards',
    summary: 'Keeps a card in memory for a minute, behind a token that is used once.',
    role: 'flows',
    body: {
      schema: 'CardBody',
      required: true,
      example: { card: { number: '4111 1111 1111 1111', expiryMonth: '12', expiryYear: '2030', cvv: '123' } },
    },
    answers: { 201: { says: 'The token.', schema: 'CardToken' } },
  },
];

const operationEntries: readonly Entry[] = [
  {
    method: 'get',
    path: '/healthz',
    operationId: 'health',
    tag: 'operations',
    summary: 'The process answers.',
    role: null,
    answers: { 200: { says: 'It does.', schema: 'Health' } },
  },
  {
    method: 'get',
    path: '/readyz',
    operationId: 'readiness',
    tag: 'operations',
    summary: 'Events can be stored durably, and Temporal can be reached.',
    role: null,
    answers: {
      200: { says: 'Both.', schema: 'Readiness' },
      503: { says: 'One of them not.', schema: 'Readiness' },
    },
  },
];
