import type { OpenAPIV3_1 } from 'openapi-types';

/** One path and method of the gateway, as its reference reports it. `schema` names a component. */
export interface Entry {
  readonly method: 'get' | 'post' | 'put' | 'delete';
  /** With `{parameters}`. */
  readonly path: string;
  readonly operationId: string;
  readonly tag: Tag;
  readonly summary: string;
  readonly description?: string;
  /** Least role of the token; null where none is needed. */
  readonly role: 'flows' | 'operator' | 'admin' | null;
  readonly body?: { readonly schema: string; readonly required: boolean; readonly example?: unknown };
  /** Query parameters: the component of an object whose members they are. */
  readonly query?: string;
  readonly answers: Readonly<Record<number, { readonly says: string; readonly schema: string | null }>>;
}

export const TAGS = {
  flows: 'Start flows, look at them, wait for them, decide.',
  events: 'What arrived from the service and the settlement provider, and its state.',
  callbacks: 'Signed callbacks to callers, and their delivery.',
  cards: 'Card data, which never enters a flow.',
  inbound: 'Doors for the service and the settlement provider.',
  operations: 'For those who run the gateway.',
} as const;
export type Tag = keyof typeof TAGS;

const ROLES = {
  flows: 'Needs a gateway token.',
  operator: 'Needs a gateway token of the role operator or admin.',
  admin: 'Needs a gateway token of the role admin.',
} as const;

export const ref = (name: string): OpenAPIV3_1.ReferenceObject => ({ $ref: `#/components/schemas/${name}` });

export const json = (schema: string, example?: unknown) => ({
  content: { 'application/json': { schema: ref(schema), ...(example === undefined ? {} : { example }) } },
});

/** What every path may answer besides: refusals of one shape. */
export const REFUSALS = {
  '4XX': { $ref: '#/components/responses/Refused' },
  '5XX': { $ref: '#/components/responses/Unavailable' },
} as const;

/** The entry as an OpenAPI operation. `queryOf` resolves its query to parameters. */
export function describe(
  entry: Entry,
  queryOf: (schema: string) => readonly OpenAPIV3_1.ParameterObject[],
): OpenAPIV3_1.OperationObject {
  const { operationId, tag, summary, role, body, query, answers } = entry;
  const parameters = [...parametersOf(entry.path), ...(query === undefined ? [] : queryOf(query))];
  const description = [entry.description, role === null ? undefined : ROLES[role]].filter(Boolean).join(' ');
  return {
    operationId,
    tags: [tag],
    summary,
    ...(description === '' ? {} : { description }),
    security: role === null ? [] : [{ token: [] }],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: { required: body.required, ...json(body.schema, body.example) } }),
    responses: {
      ...Object.fromEntries(
        Object.entries(answers).map(([status, { says, schema }]) => [
          status,
          { description: says, ...(schema === null ? {} : json(schema)) },
        ]),
      ),
      ...REFUSALS,
    },
  };
}

const GRAMMAR: Readonly<Record<string, OpenAPIV3_1.SchemaObject>> = {
  reference: { type: 'string', pattern: '^[A-Za-z0-9][A-Za-z0-9._:-]{0,120}$' },
  id: { type: 'string', pattern: '^[A-Za-z0-9_.-]{1,80}$' },
};

function parametersOf(path: string): OpenAPIV3_1.ParameterObject[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    // The type of the parameter is that of an older version of OpenAPI.
    schema: (name === 'kind' ? ref('FlowKind') : (GRAMMAR[name] ?? { type: 'string' })) as never,
  }));
}
