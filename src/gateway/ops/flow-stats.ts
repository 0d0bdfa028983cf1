import type { Client } from '@temporalio/client';
import { addAmounts, InvalidAmountError } from '../../money.js';
import { flowOf } from '../../flows/index.js';
import { FLOW_KINDS, FLOW_STATES, parseFlowId, type FlowKind, type FlowState } from '../../protocol/vocabulary.js';
import { UNDELIVERED_CALLBACKS } from '../../temporal/callback-handle.js';
import type { FlowReader } from '../../temporal/flow-handle.js';
import { visibilityQuery } from '../flows/list.js';
import { isTerminated, standingOfTerminated, type TerminatedDeps } from '../flows/resolve-terminated.js';

/** Where all flows stand. Temporal's visibility lags by a second or so. */
export interface FlowStats {
  readonly flows: readonly { readonly kind: FlowKind; readonly state: FlowState; readonly count: number }[];
  /** Decimal strings: what is in flows that have not ended. */
  readonly inFlight: ReadonlyMap<string, string>;
  /** Flows that have not ended and whose amount is not known here: another client started them. */
  readonly withoutAmount: number;
  readonly parked: ReadonlyMap<string, number>;
  /** Parked flows that are past their deadline. */
  readonly overdue: number;
  /** Flows whose callbacks could not be delivered, after days of trying. */
  readonly undelivered: number;
  /** Parked flows beyond those that were asked for their reason. */
  readonly notAsked: number;
}

interface CensusDeps extends TerminatedDeps {
  readonly client: Client;
  readonly reader: Pick<FlowReader, 'reportOfOpen' | 'facts'>;
  readonly nowMs: () => number;
}

const WITHIN_MS = 10_000;
/** Asking a flow costs a worker a replay now and then. */
const MOST_ASKED = 200;
const ASKED_AT_ONCE = 8;
/** After so many that did not answer there is no worker, and each further one would cost seconds. */
const MOST_SILENT = 16;
const PAGE = 1_000;
/** A flow that could not be asked: no worker, or none in time. */
const NOT_SAID = 'unknown';

/** Counts the flows by kind and state, adds up what is in flight, and asks the parked ones why. */
export async function collectFlowStats(deps: CensusDeps): Promise<FlowStats> {
  const [counted, listed, undelivered] = await Promise.all([
    countAll(deps.client),
    openFlows(deps.client),
    countOf(deps.client, UNDELIVERED_CALLBACKS),
  ]);
  const { open, decided } = await withoutDecided(deps, listed);
  const parkedFlows = open.filter(({ parked }) => parked);
  const asked = await askAll(deps, parkedFlows.slice(0, MOST_ASKED));
  const parked = new Map<string, number>();
  for (const { reason } of asked) parked.set(reason, (parked.get(reason) ?? 0) + 1);
  return {
    flows: [...counted, ...parkedByKind(parkedFlows)].map((row) => ({ ...row, count: row.count + decided(row) })),
    ...inFlightOf(open),
    parked,
    undelivered,
    overdue: asked.filter(({ overdue }) => overdue).length,
    notAsked: Math.max(0, parkedFlows.length - MOST_ASKED),
  };
}

/** All but the parked ones, each of which is looked at. */
function countAll(client: Client): Promise<FlowStats['flows']> {
  const counted = FLOW_STATES.filter((state) => state !== 'parked');
  const pairs = FLOW_KINDS.flatMap((kind) => counted.map((state) => ({ kind, state })));
  return inTurns(pairs, ASKED_AT_ONCE, async ({ kind, state }) => {
    return { kind, state, count: await countOf(client, visibilityQuery({ kind, state })) };
  });
}

async function countOf(client: Client, query: string): Promise<number> {
  return (await within(client, () => client.workflow.count(query))).count;
}

function parkedByKind(parked: readonly OpenFlow[]): FlowStats['flows'] {
  return FLOW_KINDS.map((kind) => {
    const count = parked.filter(({ flowId }) => parseFlowId(flowId)?.kind === kind).length;
    return { kind, state: 'parked', count };
  });
}

/** Terminated flows that a person has decided count as that person said, and runs that were reset not at all. */
async function withoutDecided(deps: CensusDeps, listed: readonly OpenFlow[]) {
  const terminated = listed.filter((flow) => flow.terminated).slice(0, MOST_ASKED);
  const states = await inTurns(terminated, ASKED_AT_ONCE, ({ flowId, runId }) =>
    standingOfTerminated(deps, { workflowId: flowId, runId }),
  );
  const gone = new Set(terminated.filter((_, index) => states[index] !== 'parked'));
  const decided = (row: { readonly kind: FlowKind; readonly state: FlowState }): number =>
    terminated.filter((flow, index) => {
      return gone.has(flow) && states[index] === row.state && parseFlowId(flow.flowId)?.kind === row.kind;
    }).length;
  return { open: listed.filter((flow) => !gone.has(flow)), decided };
}

interface OpenFlow {
  readonly flowId: string;
  readonly runId: string;
  readonly terminated: boolean;
  readonly parked: boolean;
  readonly amount: unknown;
  readonly currency: unknown;
}

async function openFlows(client: Client): Promise<readonly OpenFlow[]> {
  const states = ['running', 'parked'] as const;
  const lists = await Promise.all(
    states.map((state) =>
      within(client, async () => {
        const found: OpenFlow[] = [];
        for await (const { workflowId, runId, status, memo } of client.workflow.list({
          query: visibilityQuery({ state }),
          pageSize: PAGE,
        })) {
          if (parseFlowId(workflowId) === undefined) continue;
          const { amount, currency } = memo ?? {};
          const terminated = isTerminated(status.name);
          found.push({ flowId: workflowId, runId, terminated, parked: state === 'parked', amount, currency });
        }
        return found;
      }),
    ),
  );
  return lists.flat();
}

function inFlightOf(open: readonly OpenFlow[]): Pick<FlowStats, 'inFlight' | 'withoutAmount'> {
  const inFlight = new Map<string, string>();
  let withoutAmount = 0;
  for (const { flowId, amount, currency } of open) {
    if (typeof amount === 'string' && typeof currency === 'string') {
      try {
        inFlight.set(currency, addAmounts(inFlight.get(currency) ?? '0', amount));
        continue;
      } catch (error) {
        if (!(error instanceof InvalidAmountError)) throw error;
      }
    }
    if (movesMoney(flowId)) withoutAmount += 1;
  }
  return { inFlight, withoutAmount };
}

function movesMoney(flowId: string): boolean {
  const kind = parseFlowId(flowId)?.kind;
  return kind !== undefined && flowOf(kind).moneyOf !== undefined;
}

function askAll({ reader, nowMs }: CensusDeps, flows: readonly OpenFlow[]) {
  let silent = 0;
  return inTurns(flows, ASKED_AT_ONCE, async ({ flowId, terminated }) => {
    const view = silent < MOST_SILENT ? (await reader.reportOfOpen(flowId))?.view : undefined;
    if (view === undefined) silent += 1;
    const deadlineMs = view?.deadlineAt == null ? undefined : Date.parse(view.deadlineAt);
    const reason = terminated ? 'terminated' : (view?.parked?.reason ?? NOT_SAID);
    return { reason, overdue: deadlineMs !== undefined && deadlineMs < nowMs() };
  });
}

function within<T>(client: Client, ask: () => Promise<T>): Promise<T> {
  return client.connection.withDeadline(Date.now() + WITHIN_MS, ask);
}

async function inTurns<T, R>(all: readonly T[], atOnce: number, ask: (one: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const waiting = all.entries();
  const turn = async () => {
    for (const [index, one] of waiting) results[index] = await ask(one);
  };
  await Promise.all(Array.from({ length: atOnce }, turn));
  return results;
}
