import type { z } from 'zod';
import type { FlowPage, FlowPageQuery, ListedFlow } from '../../api/flow.js';
import {
  flowIdOf,
  FLOW_KINDS,
  PARK_REASON_ATTRIBUTE,
  PARKED_SINCE_ATTRIBUTE,
  PARK_REASONS,
  parseFlowId,
  STATE_ATTRIBUTE,
  workflowTypeOf,
  type FlowState,
  type ParkReason,
} from '../../protocol/vocabulary.js';
import type { Store } from '../../store/store.js';
import { moneyIn, stateOf } from '../../temporal/flow-handle.js';
import { listExecutions, type ListedExecution } from '../../temporal/flow-page.js';
import { inTurns } from '../../in-turns.js';
import type { Caller } from '../http/bearer-token.js';
import { gatherPages } from './charged-pages.js';
import { settledOwners } from './start.js';
import { Refusal } from '../http/refusal.js';
import type { FlowOperationDeps } from './deps.js';
import { isTerminated, viewOfTerminated } from './terminated-view.js';
import { callWithin } from '../../temporal/call-within.js';

type ListQuery = z.infer<typeof FlowPageQuery>;

const LIST_WITHIN_MS = 10_000;
/** Of one list: each terminated flow is a question to Temporal, and reads of the store. */
const ASKED_AT_ONCE = 4;

/**
 * `GET /flows`: newest first, from Temporal's visibility, which lags by a second or so. Who may see only their own gets
 * those that the audit log says are theirs.
 */
export function listFlows(deps: FlowOperationDeps, caller: Caller, { after, ...query }: ListQuery): Promise<FlowPage> {
  return callWithin(deps.client, LIST_WITHIN_MS, () => pageOf(deps, caller, query, after));
}

async function pageOf(
  deps: FlowOperationDeps,
  caller: Caller,
  query: ListQuery,
  after: string | undefined,
): Promise<FlowPage> {
  const wanted = query.reason === undefined ? query : { ...query, state: 'parked' as const };
  const isForAll = deps.owners.isForAll(caller, 'view');
  const nextPage = (conditions: string, size: number, from: string | null): Promise<ServerPage> =>
    isForAll ? serverPage(deps, conditions, size, from) : ownPage(deps, caller.name, conditions, size, from);
  const { found, next } = await gatherPages(wanted.limit, after ?? null, async (most, from) => {
    deps.takePage(caller.name);
    // Never more than fits: every flow of a page is either listed, or left out for good.
    const page = await nextPage(visibilityQuery(wanted), most, from);
    const listed = await inTurns(page.found, ASKED_AT_ONCE, (one) => flowOfRow(deps, one, wanted));
    return { found: listed.filter((flow) => flow !== undefined), next: page.next };
  });
  return { flows: await withMarks(deps, found), next };
}

/** What a person must see at once: orders that wait for a second person, and contradictions. */
async function withMarks(
  { store }: Pick<FlowOperationDeps, 'store'>,
  flows: readonly ListedFlow[],
): Promise<readonly ListedFlow[]> {
  if (flows.length === 0) return flows;
  const flowIds = flows.map(({ flowId }) => flowId);
  const [contradictions, proposals] = await Promise.all([
    store.matters.contradictedAmong(flowIds),
    store.proposals.open({ flowIds }),
  ]);
  return flows.map((flow) => {
    const stands = proposals.find(({ flowId, topic, subject }) => {
      if (flowId !== flow.flowId) return false;
      // For how it was parked then, or for the quote of a flow that still runs.
      if (topic === 'decision') return flow.state === 'parked' && subject === (flow.since ?? subject);
      return topic === 'approval' && flow.state === 'running';
    });
    const proposed = stands && { action: stands.action, by: stands.by, expiresAt: stands.expiresAt };
    return { ...flow, proposed: proposed ?? null, contradicted: contradictions.has(flow.flowId) };
  });
}

interface ServerPage {
  readonly found: readonly ListedExecution[];
  readonly next: string | null;
}

async function serverPage(
  { client, store }: FlowOperationDeps,
  query: string,
  pageSize: number,
  after: string | null,
): Promise<ServerPage> {
  const page = await listExecutions(
    client,
    query,
    pageSize,
    after === null ? undefined : tokenIn(store, 'page', after),
  );
  return {
    found: page.found,
    next: page.nextPageToken.length === 0 ? null : marked(store, 'page', page.nextPageToken),
  };
}

const NO_PAGE: Pick<ServerPage, 'found'> = { found: [] };
/** Runs of that many flows: a reset flow has several. */
const MOST_RUNS = 1_000;

/** The next flows of a name, by the entries of the audit log that made them its own. */
async function ownPage(
  { client, store, reader }: FlowOperationDeps,
  name: string,
  query: string,
  pageSize: number,
  after: string | null,
): Promise<ServerPage> {
  const before = after === null ? {} : { before: Number(tokenIn(store, 'own-page', after)) };
  const entries = await store.audit.flowsOf(name, { limit: pageSize, ...before });
  const owners = await settledOwners({ store, reader })(entries.map(({ flowId }) => flowId));
  // Each once, and none that was given to another name, or that another request had started.
  const own = entries.filter(({ flowId, seq }) => owners.get(flowId)?.name === name && owners.get(flowId)?.seq === seq);
  const order = own.map(({ flowId }) => flowId);
  const isOwn = `WorkflowId IN (${order.map((flowId) => `'${flowId}'`).join(', ')})`;
  const { found } = order.length === 0 ? NO_PAGE : await listExecutions(client, `${query} AND ${isOwn}`, MOST_RUNS);
  // In the order of the pages, which is that of the entries.
  const sorted = found.toSorted((one, other) => order.indexOf(one.workflowId) - order.indexOf(other.workflowId));
  const last = entries.length < pageSize ? undefined : entries.at(-1);
  return { found: sorted, next: last === undefined ? null : marked(store, 'own-page', Buffer.from(String(last.seq))) };
}

const MARK_LENGTH = 16;
type Pages = 'page' | 'own-page';

/** The server answers a token that it did not make with an arbitrary error, so ours are marked. */
function marked(store: Pick<Store, 'mac'>, pages: Pages, bytes: Uint8Array): string {
  const token = Buffer.from(bytes).toString('base64url');
  return markOf(store, pages, token) + token;
}

const markOf = (store: Pick<Store, 'mac'>, pages: Pages, token: string): string =>
  store.mac(pages, token).slice(0, MARK_LENGTH);

/** @throws Refusal 400 */
function tokenIn(store: Pick<Store, 'mac'>, pages: Pages, after: string): Buffer {
  const token = after.slice(MARK_LENGTH);
  if (markOf(store, pages, token) === after.slice(0, MARK_LENGTH)) return Buffer.from(token, 'base64url');
  const errors = [{ path: 'after', message: 'is not the "next" of a page' }];
  throw new Refusal(400, 'The query is not valid. Check after.', { errors });
}

async function flowOfRow(
  deps: FlowOperationDeps,
  found: ListedExecution,
  query: ListQuery,
): Promise<ListedFlow | undefined> {
  const id = parseFlowId(found.workflowId);
  if (id === undefined) return undefined;
  const status = found.status.name;
  const terminated = isTerminated(status);
  const state = terminated
    ? (await viewOfTerminated(deps, found))?.state
    : stateOf(status, found.searchAttributes[STATE_ATTRIBUTE]?.[0]);
  if (state === undefined || state !== (query.state ?? state)) return undefined;
  const closedAt = found.closeTime?.toISOString() ?? null;
  const said = PARK_REASONS.find((reason) => reason === found.searchAttributes[PARK_REASON_ATTRIBUTE]?.[0]);
  return {
    kind: id.kind,
    reference: id.reference,
    flowId: found.workflowId,
    state,
    startedAt: found.startTime.toISOString(),
    closedAt,
    ...moneyIn(found.memo),
    reason: state !== 'parked' ? null : terminated ? 'terminated' : (said ?? null),
    since: state !== 'parked' ? null : terminated ? closedAt : parkedSince(found),
    proposed: null,
    contradicted: false,
  };
}

function parkedSince({ searchAttributes }: ListedExecution): string | null {
  const [since] = searchAttributes[PARKED_SINCE_ATTRIBUTE] ?? [];
  return since instanceof Date ? since.toISOString() : null;
}

type FlowFilter = Pick<ListQuery, 'kind' | 'state' | 'reason' | 'reference'>;

/** Every word in it comes from our own vocabularies or matches the grammar of references: nothing to escape. */
export function visibilityQuery({ kind, state, reason, reference }: FlowFilter): string {
  const kinds = kind === undefined ? FLOW_KINDS : [kind];
  const inList = (values: readonly string[]) => `(${values.map((value) => `'${value}'`).join(', ')})`;
  // A run that continued as new is no flow: the one that it continued as is.
  const parts = [`WorkflowType IN ${inList(kinds.map(workflowTypeOf))}`, `ExecutionStatus != 'ContinuedAsNew'`];
  if (reference !== undefined) parts.push(`WorkflowId IN ${inList(kinds.map((kind) => flowIdOf(kind, reference)))}`);
  if (reason !== undefined) parts.push(reasonCondition(reason));
  else if (state !== undefined) parts.push(stateCondition(state));
  return parts.join(' AND ');
}

function stateCondition(state: FlowState): string {
  if (state === 'running') return `ExecutionStatus = 'Running' AND ${STATE_ATTRIBUTE} IS NULL`;
  if (state === 'completed') return `ExecutionStatus = 'Completed' AND ${STATE_ATTRIBUTE} IS NULL`;
  if (state !== 'parked') return `${STATE_ATTRIBUTE} = '${state}' AND ExecutionStatus != 'Running'`;
  return `((${PARKED_AND_OPEN}) OR ${TERMINATED})`;
}

export const PARKED_AND_OPEN = `${STATE_ATTRIBUTE} = 'parked' AND ExecutionStatus = 'Running'`;

/** A terminated flow could not report that a person is needed. */
const TERMINATED = "ExecutionStatus IN ('Terminated', 'TimedOut')";

export const reasonCondition = (reason: ParkReason): string =>
  reason === 'terminated' ? TERMINATED : `${PARK_REASON_ATTRIBUTE} = '${reason}' AND ExecutionStatus = 'Running'`;
