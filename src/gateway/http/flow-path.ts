import type { z } from 'zod';
import { type FlowParams, isReference } from '../../api/flow.js';
import type { MemberError } from '../../api/refusal.js';
import { flowIdOf, FLOW_KINDS, type FlowKind } from '../../protocol/vocabulary.js';
import { Refusal } from './refusal.js';

export interface FlowAddress {
  readonly kind: FlowKind;
  readonly reference: string;
  readonly flowId: string;
}

/** `{kind}/{reference}` of a path or a body, by the one grammar; undefined if it cannot be a flow of ours. */
export function flowAddress(kind: unknown, reference: unknown): FlowAddress | undefined {
  const known = FLOW_KINDS.find((candidate) => candidate === kind);
  if (known === undefined || !isReference(reference)) return undefined;
  return { kind: known, reference, flowId: flowIdOf(known, reference) };
}

export const NO_SUCH_KIND = `There is no flow of this kind. This version has: ${FLOW_KINDS.join(', ')}.`;

/** The flow that a path names. */
export const addressOf = ({ kind, reference }: z.output<typeof FlowParams>): FlowAddress => ({
  kind,
  reference,
  flowId: flowIdOf(kind, reference),
});

const MAX_ERRORS = 20;

/** Parses a body, or refuses it with each member at fault. Our schemas' messages never repeat the input. */
export function parseBody<T>(schema: z.ZodType<T>, value: unknown, what = 'The body'): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const errors = parsed.error.issues.flatMap((issue) => membersAtFault(issue, value)).slice(0, MAX_ERRORS);
  const members = [...new Set(errors.map(({ path }) => path).filter((path) => path !== ''))];
  const where = members.length === 0 ? '' : ` Check ${members.join(', ')}.`;
  throw new Refusal(400, `${what} is not valid.${where}`, { errors });
}

/** zod's report about a body, as sentences for its author: each names the member, and never its value. */
function membersAtFault(issue: z.core.$ZodIssue, body: unknown): MemberError[] {
  // Zod reports an unknown member at its parent.
  if (issue.code === 'unrecognized_keys') {
    return issue.keys
      .slice(0, MAX_ERRORS)
      .map((key) => ({ path: pathOf([...issue.path, key]), message: 'is not known here' }));
  }
  const path = pathOf(issue.path);
  if (path !== '' && valueAt(body, issue.path) === undefined) return [{ path, message: 'is missing' }];
  // A schema's own message says more.
  if (!issue.message.startsWith('Invalid ')) return [{ path, message: issue.message }];
  if (issue.code === 'invalid_value') return [{ path, message: `must be ${oneOf(issue.values)}` }];
  if (issue.code === 'invalid_type') return [{ path, message: `must be of the type ${issue.expected}` }];
  if (issue.code === 'invalid_union') {
    const types = issue.errors.flatMap(([first]) =>
      first?.code === 'invalid_type' && first.path.length === 0 ? [first.expected] : [],
    );
    if (types.length > 0 && types.length === issue.errors.length) {
      return [{ path, message: `must be of the type ${[...new Set(types)].join(' or ')}` }];
    }
  }
  return [{ path, message: issue.message }];
}

/** An unknown member has a name of the caller's, which is shown only if it reads like one. */
const pathOf = (path: readonly PropertyKey[]): string =>
  path.map((key) => (/^(?:[A-Za-z_][\w-]{0,60}|\d{1,4})$/.test(String(key)) ? String(key) : '…')).join('.');

const valueAt = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce((inside, key) => (inside as Readonly<Record<PropertyKey, unknown>> | null | undefined)?.[key], value);

const oneOf = (values: readonly unknown[]): string =>
  values.length === 1 ? String(values[0]) : `one of ${values.map(String).join(', ')}`;
