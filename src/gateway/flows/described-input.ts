import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { OpenAPIV3_1 } from 'openapi-types';
import { z } from 'zod';
import { flowOf } from '../../flows/index.js';
import { packageRoot } from '../../package-root.js';
import type { FlowKind } from '../../protocol/vocabulary.js';
import { CardGiven } from '../cards/take-card.js';
import { ref, toSchema } from '../reference/describe-route.js';

type Schema = OpenAPIV3_1.SchemaObject;
type Schemas = Readonly<Record<string, Schema>>;

export const pascal = (name: string) => name.replace(/(^|-)(\w)/g, (_, _dash, letter: string) => letter.toUpperCase());

/** The input of a kind as the document shows it: its schema after those of its forms, and its input in `examples/`. */
export function describedInput(kind: FlowKind): { readonly schemas: Schemas; readonly example: unknown } {
  return { schemas: schemasOf(kind), example: exampleOf(kind) };
}

function exampleOf(kind: FlowKind): unknown {
  try {
    return JSON.parse(readFileSync(join(packageRoot(), 'examples', `${kind}.json`), 'utf8')) as unknown;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function schemasOf(kind: FlowKind): Schemas {
  const name = `${pascal(kind)}Input`;
  const input = outOf(flowOf(kind).input);
  if (input instanceof z.ZodDiscriminatedUnion) return unionForms(name, input);
  const schema = toSchema(input, 'input');
  return kind === 'card-deposit' ? cardForms(name, schema) : { [name]: schema };
}

/** A preprocessing step of the raw value has no schema; its output has. */
const outOf = (input: z.ZodType): z.ZodType =>
  input instanceof z.ZodPipe && input.in instanceof z.ZodTransform ? (input.out as z.ZodType) : input;

/**
 * The forms of an input that has several, by the word that distinguishes them; callers may leave it out, since the
 * preprocessing fills it in. Each has a name of its own: generators make a type from it, and some fail without.
 */
function unionForms(name: string, input: z.ZodDiscriminatedUnion): Schemas {
  const { discriminator } = input.def;
  const schema = toSchema(input, 'input');
  const forms = ((schema.oneOf ?? schema.anyOf ?? []) as Schema[]).map((form): [string, Schema] => {
    const { const: word } = (form.properties?.[discriminator] ?? {}) as { const?: unknown };
    const required = form.required?.filter((member) => member !== discriminator) ?? [];
    return [`${name}${pascal(String(word))}`, { ...form, required }];
  });
  return { [name]: { anyOf: forms.map(([form]) => ref(form)) }, ...Object.fromEntries(forms) };
}

/** A card, which over HTTP is itself in this place, or the token from `POST /card-tokens`. */
function cardForms(name: string, { properties = {}, required = [], ...schema }: Schema): Schemas {
  const { card: _card, cardToken, masked, ...rest } = properties;
  const others = required.filter((member) => !(member in { cardToken, masked }));
  const form = (more: NonNullable<Schema['properties']>, member: string): Schema => ({
    ...schema,
    properties: { ...rest, ...more },
    required: [...others, member],
  });
  return {
    [name]: { anyOf: [ref(`${name}Card`), ref(`${name}Token`)] },
    [`${name}Card`]: form({ card: ref('CardGiven') }, 'card'),
    [`${name}Token`]: form({ ...(cardToken && { cardToken }), ...(masked && { masked }) }, 'cardToken'),
    CardGiven: toSchema(CardGiven, 'input'),
  };
}
