import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import {
  flowIdOf,
  FLOW_KINDS,
  FLOW_STATES,
  parseFlowId,
  STATE_ATTRIBUTE,
  workflowTypeOf,
  type FlowState,
} from '../../protocol/vocabulary.js';
import { stateOf } from '../../temporal/flow-handle.js';
import { isReference, parseBody } from '../http/flow-path.js';
import type { FlowOperationDeps } from './deps.js';
import { isTerminated, standingOfTerminated } from './resolve-terminated.js';

export const ListQuery = z.strictObject({
  kind: z.enum(FLOW_KINDS).optional(),
  state: z.enum(FLOW_STATES).optional(),
  reference: z.string().refine(isReference, 'is not a reference').optional(),
  limit: z.coerce.number().int().min(1).max(500).default(50),
});

type ListQuery = z.infer<typeof ListQuery>;

const LIST_WITHIN_MS = 10_000;

/** `GET /flows`: newest first, from Temporal's visibility, which lags by a second or so. */
export function listFlows(deps: FlowOperationDeps, request: FastifyRequest) {
  const query = parseBody(ListQuery, request.query, 'The query');
  return deps.client.connection.withDeadline(Date.now() + LIST_WITHIN_MS, () => flowsOf(deps, query));
}

async function flowsOf(deps: FlowOperationDeps, query: ListQuery) {
  const flows = [];
  for await (const found of deps.client.workflow.list({ query: visibilityQuery(query), pageSize: query.limit })) {
    const id = parseFlowId(found.workflowId);
    if (id === undefined) continue;
    const status = found.status.name;
    const state = isTerminated(status)
      ? await standingOfTerminated(deps, found)
      : stateOf(status, found.searchAttributes[STATE_ATTRIBUTE]?.[0]);
    if (state === undefined || state !== (query.state ?? state)) continue;
    flows.push({
      kind: id.kind,
      reference: id.reference,
      flowId: found.workflowId,
      state,
      startedAt: found.startTime.toISOString(),
      closedAt: found.closeTime?.toISOString() ?? null,
    });
    if (flows.length >= query.limit) break;
  }
  return { flows };
}

/** Every word in it comes from our own vocabularies or matches the grammar of references: nothing to escape. */
export function visibilityQuery({ kind, state, reference }: Omit<ListQuery, 'limit'>): string {
  const kinds = kind === undefined ? FLOW_KINDS : [kind];
  const inList = (values: readonly string[]) => `(${values.map((value) => `'${value}'`).join(', ')})`;
  // A run that continued as new is no flow: the one that it continued as is.
  const parts = [`WorkflowType IN ${inList(kinds.map(workflowTypeOf))}`, `ExecutionStatus != 'ContinuedAsNew'`];
  if (reference !== undefined) parts.push(`WorkflowId IN ${inList(kinds.map((kind) => flowIdOf(kind, reference)))}`);
  if (state !== undefined) parts.push(stateCondition(state));
  return parts.join(' AND ');
}

function stateCondition(state: FlowState): string {
  if (state === 'running') return `ExecutionStatus = 'Running' AND ${STATE_ATTRIBUTE} IS NULL`;
  if (state !== 'parked') return `${STATE_ATTRIBUTE} = '${state}' AND ExecutionStatus != 'Running'`;
  // A terminated flow could not say that a person is needed.
  return `((${STATE_ATTRIBUTE} = 'parked' AND ExecutionStatus = 'Running') OR ExecutionStatus IN ('Terminated', 'TimedOut'))`;
}
