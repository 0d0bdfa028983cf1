import type { OpenAPIV3_1 } from 'openapi-types';
import { z } from 'zod';
import type { commonInput } from '../../flows/input.js';
import { type Permission, rolesWith } from '../../protocol/permissions.js';
import type { AnyRoute, Reference } from '../http/openapi.js';

type Schema = OpenAPIV3_1.SchemaObject;

const needs = (permission: Permission): string =>
  `Needs a gateway token of the role ${rolesWith(permission).join(' or ')}.`;

export const ref = (name: string): OpenAPIV3_1.ReferenceObject => ({ $ref: `#/components/schemas/${name}` });

export const json = (schema: string, example?: unknown) => ({
  content: { 'application/json': { schema: ref(schema), ...(example === undefined ? {} : { example }) } },
});

/** The route as the document shows it. Every path may also be refused, always with the same shape. */
export function describeRoute(route: AnyRoute): Reference {
  const { operationId, tag, summary, permission, query, answers, refusals = {} } = route;
  const parameters = [...pathParameters(route), ...(query === undefined ? [] : queryParameters(query))];
  const description = [route.description, permission === null ? undefined : needs(permission)]
    .filter(Boolean)
    .join(' ');
  const body = bodyOf(route);
  const operation = {
    operationId,
    tags: [tag],
    summary,
    ...(description === '' ? {} : { description }),
    security: permission === null ? [] : [{ token: [] }],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: { required: body.required, ...json(body.name, body.example) } }),
    responses: {
      ...mapValues(answers, ({ says, schema }) => ({ description: says, ...json(Object.keys(schema)[0] ?? '') })),
      ...mapValues(refusals, (says) => ({ description: says, ...json('Refused') })),
      '4XX': { $ref: '#/components/responses/Refused' },
      '5XX': { $ref: '#/components/responses/Unavailable' },
    },
  };
  const answered = Object.assign({}, ...Object.values(answers).map(({ schema }) => schema)) as Record<
    string,
    z.ZodType
  >;
  return { operation, schemas: { ...body?.schemas, ...mapValues(answered, (schema) => toSchema(schema, 'output')) } };
}

function bodyOf({ body }: AnyRoute) {
  if (body === undefined) return undefined;
  const { schemas, example } =
    'schema' in body
      ? { schemas: mapValues(body.schema, (schema) => toSchema(schema, 'input')), example: body.example }
      : body.described();
  return { name: Object.keys(schemas)[0] ?? '', required: body.required, schemas, example };
}

const parameter = (name: string, where: 'path' | 'query', schema: object): OpenAPIV3_1.ParameterObject => ({
  name,
  in: where,
  required: where === 'path',
  schema,
});

const pathParameters = ({ path, params }: AnyRoute) =>
  [...path.matchAll(/:(\w+)/g)].map(([, name = '']) =>
    // Its words are a component: generators make one type of it.
    parameter(
      name,
      'path',
      name === 'kind' ? ref('FlowKind') : toSchema((params?.shape[name] ?? z.string()) as z.ZodType, 'input'),
    ),
  );

const queryParameters = (query: z.ZodType) =>
  Object.entries(toSchema(query, 'output').properties ?? {}).map(([name, schema]) => parameter(name, 'query', schema));

export function toSchema(schema: z.ZodType, io: 'input' | 'output'): Schema {
  const { $schema: _schema, ...shown } = z.toJSONSchema(schema, {
    io,
    target: 'draft-2020-12',
    unrepresentable: 'any',
    override: ({ jsonSchema }) => (io === 'output' ? mayGrow(jsonSchema) : asWritten(jsonSchema)),
  });
  return JSON.parse(JSON.stringify(shown)) as Schema;
}

/** Answers may grow members. */
function mayGrow(schema: z.core.JSONSchema.BaseSchema): void {
  if (schema.additionalProperties === false) delete schema.additionalProperties;
}

/**
 * Generators of clients take a member with a default for one that is always there, and would have callers write it: the
 * default is in the text. What only tests of ours set is not shown.
 */
function asWritten(schema: z.core.JSONSchema.BaseSchema): void {
  delete schema.properties?.['timeScale' satisfies keyof typeof commonInput];
  if (schema.default === undefined) return;
  const description = `Default: ${JSON.stringify(schema.default)}.`;
  schema.description = [schema.description, description].filter(Boolean).join(' ');
  delete schema.default;
}

function mapValues<Value, Other>(
  members: Readonly<Record<string, Value>>,
  change: (value: Value) => Other,
): Record<string, Other> {
  return Object.fromEntries(Object.entries(members).map(([name, value]) => [name, change(value)]));
}
