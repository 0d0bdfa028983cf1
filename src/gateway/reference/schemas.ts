import type { OpenAPIV3_1 } from 'openapi-types';
import { z } from 'zod';
import { componentSchemas } from '../../contract/openapi.js';
import { flowOf } from '../../flows/index.js';
import { FLOW_KINDS, type FlowKind } from '../../protocol/vocabulary.js';
import { ListQuery as CallbackQuery } from '../ops/callbacks.js';
import { CardGiven, CardBody } from '../cards/take-card.js';
import { PageQuery, ReplayBody } from '../ops/events.js';
import { ListQuery } from '../flows/list.js';
import { CancelBody, PayBody, RefundInvoiceBody, ResolveBody } from '../flows/orders.js';
import { WaitQuery } from '../flows/routes.js';
import * as answers from './answers.js';
import { ref } from './entry.js';
import { pascal } from './flow-entries.js';

type Schema = OpenAPIV3_1.SchemaObject;

/** Nothing is refused for its shape: what is not understood is kept, and listed as unmatched. */
const AnyEvent = z
  .unknown()
  .meta({ description: 'Either envelope, either spelling; whatever else it is, it is kept.' });

/** What the gateway takes and gives besides the service's own interface, by the names of the reference. */
export function gatewaySchemas(): Record<string, Schema> {
  const taken = { CancelBody, ResolveBody, PayBody, RefundInvoiceBody, ReplayBody, CardBody, AnyEvent, CardGiven };
  const inputs = Object.fromEntries(FLOW_KINDS.flatMap((kind) => inputOf(kind)));
  return {
    ...componentSchemas(),
    FlowKind: { type: 'string', enum: [...FLOW_KINDS] },
    ...inputs,
    ...shownAs('input', { ...taken }),
    ...shownAs('output', { ...answers }),
  };
}

/** Query strings, as their parameters. */
export function queryParameters(name: string): OpenAPIV3_1.ParameterObject[] {
  const queries: Readonly<Record<string, z.ZodType>> = {
    FlowQuery: ListQuery,
    WaitQuery,
    EventQuery: PageQuery,
    CallbackQuery,
  };
  const query = queries[name];
  if (query === undefined) throw new TypeError(`${name} is no query`);
  const { properties = {} } = toSchema(query, 'output');
  return Object.entries(properties).map(([member, schema]) => ({
    name: member,
    in: 'query',
    required: false,
    // The type of the parameter is that of an older version of OpenAPI.
    schema: schema as never,
  }));
}

/** The input of a kind over HTTP, where a card stands in its place itself. */
function inputOf(kind: FlowKind): [string, Schema][] {
  const definition = flowOf(kind);
  if (definition === undefined) return [];
  const name = `${pascal(kind)}Input`;
  const forms = formsOf(definition.input);
  if (forms !== undefined) {
    const named = forms.map(([form, schema]): [string, Schema] => [`${name}${pascal(form)}`, schema]);
    return [[name, { anyOf: named.map(([form]) => ref(form)) }], ...named];
  }
  const schema = toSchema(outOf(definition.input), 'input');
  return kind === 'card-deposit' ? cardForms(name, schema) : [[name, schema]];
}

/** A card, or the token that `POST /card-tokens` gave for it. */
function cardForms(name: string, { properties = {}, required = [], ...schema }: Schema): [string, Schema][] {
  const { card: _card, cardToken, masked, ...rest } = properties;
  const others = required.filter((member) => !(member in { cardToken, masked }));
  const form = (more: NonNullable<Schema['properties']>, member: string): Schema => ({
    ...schema,
    properties: { ...rest, ...more },
    required: [...others, member],
  });
  return [
    [name, { anyOf: [ref(`${name}Card`), ref(`${name}Token`)] }],
    [`${name}Card`, form({ card: ref('CardGiven') }, 'card')],
    [`${name}Token`, form({ ...(cardToken && { cardToken }), ...(masked && { masked }) }, 'cardToken')],
  ];
}

/** A preparation of the raw value has no schema; what comes after it has. */
const outOf = (input: z.ZodType): z.ZodType =>
  input instanceof z.ZodPipe && input.in instanceof z.ZodTransform ? (input.out as z.ZodType) : input;

/**
 * The forms of an input that has several, by the word that distinguishes them; callers may leave it out, since the
 * preparation fills it in. Each has a name of its own: generators make a type of it, and some can make none without.
 */
function formsOf(input: z.ZodType): [string, Schema][] | undefined {
  const out = outOf(input);
  if (!(out instanceof z.ZodDiscriminatedUnion)) return undefined;
  const { discriminator } = out.def;
  const schema = toSchema(out, 'input');
  return ((schema.oneOf ?? schema.anyOf ?? []) as Schema[]).map((form) => {
    const { const: word } = (form.properties?.[discriminator] ?? {}) as { const?: unknown };
    return [String(word), { ...form, required: form.required?.filter((member) => member !== discriminator) ?? [] }];
  });
}

function shownAs(io: 'input' | 'output', schemas: Readonly<Record<string, z.ZodType>>): Record<string, Schema> {
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, toSchema(schema, io)]));
}

function toSchema(schema: z.ZodType, io: 'input' | 'output'): Schema {
  const { $schema: _schema, ...shown } = z.toJSONSchema(schema, {
    io,
    target: 'draft-2020-12',
    unrepresentable: 'any',
    // Answers may grow members.
    override: ({ jsonSchema }) => {
      if (io === 'output' && jsonSchema['additionalProperties'] === false) delete jsonSchema['additionalProperties'];
    },
  });
  return JSON.parse(JSON.stringify(shown)) as Schema;
}
