import { z } from 'zod';
import { MAX_CALLER_REFERENCE_LENGTH, REFERENCE_PATTERN } from '../../contract/sending.js';
import { flowIdOf, FLOW_KINDS, type FlowKind } from '../../protocol/vocabulary.js';
import { type MemberError, Refusal } from './refusal.js';

export interface FlowAddress {
  readonly kind: FlowKind;
  readonly reference: string;
  readonly flowId: string;
}

/** `{kind}/{reference}` of a path or a body, by the one grammar; undefined where it can be no flow of ours. */
export function flowAddress(kind: unknown, reference: unknown): FlowAddress | undefined {
  const known = FLOW_KINDS.find((candidate) => candidate === kind);
  if (known === undefined || !isReference(reference)) return undefined;
  return { kind: known, reference, flowId: flowIdOf(known, reference) };
}

export function isReference(text: unknown): text is string {
  return typeof text === 'string' && text.length <= MAX_CALLER_REFERENCE_LENGTH && REFERENCE_PATTERN.test(text);
}

/** Parameters of a path that names a flow. */
export const FlowParams = z.object({
  kind: z.enum(FLOW_KINDS),
  // Without the look-ahead of the grammar, which not every generator of clients reads.
  reference: z
    .string()
    .refine(isReference)
    .meta({ pattern: `^[A-Za-z0-9][A-Za-z0-9._:-]{0,${MAX_CALLER_REFERENCE_LENGTH - 1}}$` }),
});

/** The flow that a path names. */
export const addressOf = ({ kind, reference }: z.output<typeof FlowParams>): FlowAddress => ({
  kind,
  reference,
  flowId: flowIdOf(kind, reference),
});

const MAX_ERRORS = 20;

/** Parses a body, or refuses it with each member at fault. Messages of our schemas never repeat the input. */
export function parseBody<T>(schema: z.ZodType<T>, value: unknown, what = 'The body'): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const errors: MemberError[] = parsed.error.issues
    .slice(0, MAX_ERRORS)
    .map((issue) => ({ path: issue.path.map(String).join('.'), message: issue.message }));
  const members = [...new Set(errors.map(({ path }) => path).filter((path) => path !== ''))];
  const where = members.length === 0 ? '' : ` Look at ${members.join(', ')}.`;
  throw new Refusal(400, `${what} is not what is expected here.${where}`, { errors });
}
