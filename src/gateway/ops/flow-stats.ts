import type { Client } from '@temporalio/client';
import { z } from 'zod';
import { inTurns } from '../../in-turns.js';
import type { FlowWithMoney } from '../../api/flow.js';
import { parkedMatterId } from '../../protocol/matters.js';
import {
  defaultDeadlineSeconds,
  FLOW_KINDS,
  FLOW_STATES,
  PARK_REASONS,
  parseFlowId,
  workflowTypeOf,
  type FlowKind,
  type FlowState,
} from '../../protocol/vocabulary.js';
import type { Store } from '../../store/store.js';
import { UNDELIVERED_CALLBACKS } from '../../temporal/callback-handle.js';
import type { FlowReader } from '../../temporal/flow-handle.js';
import { listExecutions, type ListedExecution } from '../../temporal/flow-page.js';
import { PARKED_AND_OPEN, reasonCondition, visibilityQuery } from '../flows/list.js';
import { viewOfTerminated, type TerminatedDeps } from '../flows/terminated-view.js';
import { addRuns, valueInFlight, type RunLists } from './value-in-flight.js';
import { callWithin } from '../../temporal/call-within.js';

const Counted = z.object({ kind: z.enum(FLOW_KINDS), state: z.enum(FLOW_STATES), count: z.int() });

const ValueAtMoment = z.object({
  atMs: z.number(),
  listedAtMs: z.number(),
  openRuns: z.int(),
  amounts: z.record(z.string(), z.string()),
  withoutAmount: z.int(),
});

/** Counts of all flows. Temporal's visibility lags by a second or so. */
export type FlowStats = z.infer<typeof FlowStats>;
const FlowStats = z.object({
  countedAtMs: z.number(),
  flows: z.array(Counted),
  /** By reason. */
  parked: z.record(z.string(), z.int()),
  /** Parked flows that started longer ago than `1h`, `1d`, `7d`. */
  parkedFor: z.record(z.string(), z.int()),
  /** Flows whose end is contradicted; `flows` counts none of them. */
  contradicted: z.int(),
  /** Open flows, running or parked, that are past the deadline that flows of their kind have by default. */
  overdue: z.int(),
  /** Flows whose callbacks could not be delivered, after days of trying. */
  undelivered: z.int(),
  /** Decimal strings: the amounts of open flows. */
  inFlight: z.record(z.string(), z.string()),
  /** Open flows whose amount is not known here: another client started them. */
  withoutAmount: z.int(),
  /** The next count continues from this. */
  value: ValueAtMoment,
});

interface FlowStatsDeps extends TerminatedDeps {
  readonly client: Client;
  readonly reader: Pick<FlowReader, 'facts'>;
  readonly nowMs: () => number;
  /** Of the deadlines. */
  readonly timeScale: number;
  /** Figures younger than this are used again. @default 15,000 */
  readonly freshMs?: number | undefined;
  /** Runs that are listed in one request. @default 1,000 */
  readonly pageSize?: number;
}

const FRESH_MS = 15_000;
const COUNTING = 'counting';
/**
 * Longer than one page of a list takes; the duty is renewed with each page. If the counting gateway dies, another one
 * takes over.
 */
const COUNTING_MS = 60_000;
const WITHIN_MS = 10_000;
const ASKED_AT_ONCE = 4;
/** Most terminated flows that are checked for a person's decision; the others count as parked. */
const MOST_TERMINATED = 200;
const HOUR_MS = 3_600_000;
const AGES_MS = { '1h': HOUR_MS, '1d': 24 * HOUR_MS, '7d': 168 * HOUR_MS } as const;

/**
 * Counts of the flows, by one gateway at a time for all that share the store, where the figures are kept. It makes a
 * fixed number of queries to Temporal, however many flows are open. Undefined until the first count.
 */
export function createFlowStats(deps: FlowStatsDeps): () => Promise<FlowStats | undefined> {
  const { duties } = deps.store;
  const terminatedStates = createTerminatedStates(deps);
  return async () => {
    const kept = statsFrom(await duties.result(COUNTING));
    const isFresh = kept !== undefined && deps.nowMs() - kept.countedAtMs < (deps.freshMs ?? FRESH_MS);
    if (isFresh || !(await duties.take(COUNTING, COUNTING_MS))) return kept;
    try {
      const counted = await countFlows(deps, terminatedStates, kept);
      await duties.finish(COUNTING, JSON.stringify(counted));
      return counted;
    } catch (error) {
      await duties.leave(COUNTING).catch(() => undefined);
      throw error;
    }
  };
}

/** Figures of another build are counted again. */
function statsFrom(text: string | undefined): FlowStats | undefined {
  return text === undefined ? undefined : FlowStats.safeParse(JSON.parse(text)).data;
}

async function countFlows(
  deps: FlowStatsDeps,
  terminatedStates: TerminatedStates,
  before: FlowStats | undefined,
): Promise<FlowStats> {
  const lists = createLists(deps);
  const nowMs = deps.nowMs();
  const kinds = await inTurns(FLOW_KINDS, ASKED_AT_ONCE, (kind) => countKind(deps.client, kind));
  const terminated = kinds.some((kind) => kind.terminated > 0) ? await terminatedStates() : NONE_TERMINATED;
  const isParked = kinds.some(({ parked }) => parked > 0);
  const reasons = isParked ? PARK_REASONS.filter((reason) => reason !== 'terminated') : [];
  const byReason = await inTurns(reasons, ASKED_AT_ONCE, (reason) => lists.count(reasonCondition(reason)));
  const ages = Object.entries(AGES_MS);
  const older = await inTurns(isParked ? ages : [], ASKED_AT_ONCE, ([, ms]) =>
    lists.count(`${PARKED_AND_OPEN} AND StartTime < '${new Date(nowMs - ms).toISOString()}'`),
  );
  const value = await valueInFlight(lists, before?.value, nowMs);
  const inFlight = addRuns(value, terminated.waiting);
  const contradicted = await contradictedEnds(deps.store);
  const stillTerminated = kinds.reduce((sum, kind) => sum + kind.terminated, 0) - terminated.decided.length;
  return {
    countedAtMs: nowMs,
    flows: kinds.flatMap((counts) => rowsOf(counts, terminated.decided, contradicted)),
    contradicted: contradicted.length,
    parked: {
      ...Object.fromEntries(reasons.map((reason, index) => [reason, byReason[index] ?? 0])),
      terminated: Math.max(0, stillTerminated),
    },
    parkedFor: Object.fromEntries(ages.map(([age], index) => [age, older[index] ?? 0])),
    overdue: await lists.count(overdueCondition(nowMs, deps.timeScale)),
    undelivered: await within(deps.client, async () => (await deps.client.workflow.count(UNDELIVERED_CALLBACKS)).count),
    inFlight: inFlight.amounts,
    withoutAmount: inFlight.withoutAmount,
    value,
  };
}

interface KindCounts {
  readonly kind: FlowKind;
  readonly parked: number;
  readonly terminated: number;
  readonly states: Readonly<Partial<Record<FlowState, number>>>;
}

/** Servers group only by the status: everything else that distinguishes states is counted separately. */
async function countKind(client: Client, kind: FlowKind): Promise<KindCounts> {
  const count = (query: string) => within(client, () => client.workflow.count(query));
  const stateCount = async (state: FlowState) => (await count(visibilityQuery({ kind, state }))).count;
  const [{ groups }, parked, refunded, expired] = await Promise.all([
    count(`${visibilityQuery({ kind })} GROUP BY ExecutionStatus`),
    count(`${visibilityQuery({ kind })} AND ${PARKED_AND_OPEN}`).then((found) => found.count),
    stateCount('refunded'),
    stateCount('expired'),
  ]);
  const withStatus = (...names: readonly string[]) =>
    groups.filter(({ groupValues }) => names.includes(String(groupValues[0]))).reduce((sum, one) => sum + one.count, 0);
  const states = {
    running: withStatus('Running', 'Paused') - parked,
    completed: withStatus('Completed') - refunded,
    refunded,
    failed: withStatus('Failed') - expired,
    expired,
    cancelled: withStatus('Canceled'),
  };
  return { kind, parked, terminated: withStatus('Terminated', 'TimedOut'), states };
}

/** More are counted as they ended: each of them is an alarm that somebody has to see to. */
const MOST_CONTRADICTED = 1_000;

/** How the contradicted flows had ended. */
async function contradictedEnds({ matters }: Pick<Store, 'matters'>): Promise<readonly Decided[]> {
  const flowIds = await matters.contradictedFlows('all', { limit: MOST_CONTRADICTED });
  const found = await matters.contradictionsOf(flowIds);
  return flowIds.map((flowId) => ({
    kind: parseFlowId(flowId)?.kind,
    state: found.get(flowId)?.find(({ content }) => content.ended !== undefined)?.content.ended,
  }));
}

function rowsOf(
  { kind, parked, terminated, states }: KindCounts,
  decided: readonly Decided[],
  contradicted: readonly Decided[],
): FlowStats['flows'] {
  const here = decided.filter((one) => one.kind === kind);
  const all = { ...states, parked: parked + terminated - here.length };
  return FLOW_STATES.map((state) => {
    const isHere = (one: Decided) => one.kind === kind && one.state === state;
    const count = (all[state] ?? 0) + here.filter(isHere).length - contradicted.filter(isHere).length;
    // The counts are not from one moment.
    return { kind, state, count: Math.max(0, count) };
  });
}

function overdueCondition(nowMs: number, timeScale: number): string {
  const past = FLOW_KINDS.map((kind) => {
    const startedBefore = new Date(nowMs - defaultDeadlineSeconds(kind) * 1_000 * timeScale).toISOString();
    return `(WorkflowType = '${workflowTypeOf(kind)}' AND StartTime < '${startedBefore}')`;
  });
  return `ExecutionStatus = 'Running' AND (${past.join(' OR ')})`;
}

/** A terminated run that no person needs to decide: it was decided (`state`), or a reset replaced it. */
interface Decided {
  readonly kind: FlowKind | undefined;
  readonly state: FlowState | undefined;
}

type TerminatedStates = () => Promise<{
  readonly decided: readonly Decided[];
  readonly waiting: readonly ListedExecution[];
}>;

const NONE_TERMINATED = { decided: [], waiting: [] } as const;

/**
 * A decision is final, so only undecided ones are checked again. A terminated flow cannot notify people that it is
 * parked, so this does.
 */
function createTerminatedStates(deps: FlowStatsDeps): TerminatedStates {
  let known: ReadonlyMap<string, Decided> = new Map();
  let notified: ReadonlySet<string> = new Set();
  return async () => {
    const listed = await within(deps.client, () =>
      listExecutions(deps.client, visibilityQuery({ reason: 'terminated' }), MOST_TERMINATED),
    );
    const found = listed.found.filter(({ workflowId }) => parseFlowId(workflowId) !== undefined);
    const decided = await inTurns(found, ASKED_AT_ONCE, async (run) => {
      const before = known.get(run.runId);
      if (before !== undefined) return before;
      const view = await viewOfTerminated(deps, run);
      if (view?.state !== 'parked') return { kind: parseFlowId(run.workflowId)?.kind, state: view?.state };
      if (!notified.has(run.runId)) await openParkedMatter(deps.store, view);
      return undefined;
    });
    known = new Map(found.flatMap(({ runId }, at) => (decided[at] === undefined ? [] : [[runId, decided[at]]])));
    const waiting = found.filter((_, at) => decided[at] === undefined);
    notified = new Set(waiting.map(({ runId }) => runId));
    return { decided: decided.filter((one) => one !== undefined), waiting };
  };
}

async function openParkedMatter(
  { matters }: Pick<Store, 'matters'>,
  { flowId, parked, amount, currency }: FlowWithMoney,
): Promise<void> {
  if (parked === null) return;
  const { since, reason, actions } = parked;
  const money = amount === null || currency === null ? {} : { amount, currency };
  await matters.open(parkedMatterId(flowId, since), { kind: 'parked', flowId, since, reason, actions, ...money });
}

function createLists({ client, store, pageSize = 1_000 }: FlowStatsDeps): RunLists {
  const types = `WorkflowType IN (${FLOW_KINDS.map((kind) => `'${workflowTypeOf(kind)}'`).join(', ')})`;
  return {
    count: async (condition) =>
      (await within(client, () => client.workflow.count(`${types} AND (${condition})`))).count,
    async forEach(condition, take) {
      let next: Uint8Array | undefined;
      do {
        const after = next;
        const page = await within(client, () => listExecutions(client, `${types} AND (${condition})`, pageSize, after));
        page.found.forEach(take);
        next = page.nextPageToken;
        // Another gateway counts meanwhile; its count is kept and this one is not, so this one stops.
        if (!(await store.duties.take(COUNTING, COUNTING_MS))) throw new CountedElsewhere();
      } while (next.length > 0);
    },
  };
}

class CountedElsewhere extends Error {
  override readonly name = 'CountedElsewhere';
  override readonly message = 'another gateway counts the flows';
}

function within<T>(client: Client, ask: () => Promise<T>): Promise<T> {
  return callWithin(client, WITHIN_MS, ask);
}
