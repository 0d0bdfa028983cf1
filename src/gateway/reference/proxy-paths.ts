import type { OpenAPIV3_1 } from 'openapi-types';
import { operations, type OperationName } from '../../contract/index.js';
import { openApiDocument } from '../../contract/openapi.js';
import type { Operation } from '../../contract/operation.js';
import { json, REFUSALS } from './entry.js';
import { SERVICE_EXAMPLES } from './service-examples.js';

type Paths = Record<string, Record<string, OpenAPIV3_1.OperationObject>>;

/** Header of answers that belong to a flow. */
const LOCATION = {
  Location: { description: 'Path of the flow, `/flows/{kind}/{reference}`.', schema: { type: 'string' as const } },
};

/** The service's own interface as the gateway speaks it: with its tokens, its refusals, and 202 for what is under way. */
export function proxyPaths(): Paths {
  const described = openApiDocument({ serverUrl: '/', title: '' }).paths as Paths;
  const paths: Paths = {};
  for (const operation of Object.values(operations) as Operation[]) {
    const method = operation.method.toLowerCase();
    const own = described[operation.path]?.[method];
    // The settlement path is a door, described with the others.
    if (own === undefined || operation.effect === 'report') continue;
    (paths[operation.path] ??= {})[method] = throughTheGateway(operation, own);
  }
  return paths;
}

function throughTheGateway(operation: Operation, own: OpenAPIV3_1.OperationObject): OpenAPIV3_1.OperationObject {
  const isMoney = operation.effect === 'money';
  const status = String(operation.success ?? 200);
  const { [status]: success } = own.responses ?? {};
  const example = SERVICE_EXAMPLES[operation.name as OperationName];
  const [type] = Object.values((own.requestBody as OpenAPIV3_1.RequestBodyObject | undefined)?.content ?? {});
  return {
    ...own,
    description: descriptionOf(operation),
    security: [{ token: [] }],
    ...(type === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            content: { 'application/json': { ...type, ...(example === undefined ? {} : { example }) } },
          },
        }),
    responses: {
      [status]: isMoney ? { ...(success as OpenAPIV3_1.ResponseObject), headers: LOCATION } : (success ?? {}),
      ...(isMoney
        ? {
            '202': {
              description: "Under way; the service's answer is not known yet.",
              headers: LOCATION,
              ...json('UnderWay'),
            },
            '409': { description: 'The reference has another request.', ...json('Refused') },
          }
        : {}),
      ...REFUSALS,
    },
  };
}

function descriptionOf({ effect }: Operation): string {
  switch (effect) {
    case 'money':
      return 'Starts the flow of its reference, or finds it. The same request again gets the same answer. Takes the token of the service, too.';
    case 'account':
      return 'Passed on once. Needs a gateway token of the role admin.';
    case 'quote':
      return 'Passed on, and remembered: a deposit with its rate id knows how old it is.';
    case 'read':
    case 'report':
      return 'Answered from the flow where that knows more, else passed on.';
    default:
      return effect satisfies never;
  }
}
