import type { Client } from '@temporalio/client';
import proto from '@temporalio/proto';
import { Worker } from '@temporalio/worker';
import type { DataConverter } from '@temporalio/common';
import { pairSinks } from '../harness/pairs.js';
import { ordersOf } from '../end-to-end/reconcile/driver.js';
import { at } from '../end-to-end/reconcile/json.js';
import { openSealedBytes, type PayloadKeys } from '../end-to-end/reconcile/open-sealed.js';
import type { FlowFact, Violation, Witnesses } from '../end-to-end/reconcile/witnesses.js';

type History = Awaited<ReturnType<ReturnType<Client['workflow']['getHandle']>['fetchHistory']>>;
type HistoryEvent = NonNullable<History['events']>[number];

/** One flow's history, every run of it. */
export interface FlowHistory {
  readonly workflowId: string;
  /** First to last; the flow may have continued as new, or been reset. */
  readonly runs: readonly History[];
  readonly events: number;
  readonly signals: number;
  readonly startedAtMs: number;
  readonly closedAtMs: number | undefined;
}

const NAMESPACE = 'default';

export async function fetchHistories(client: Client, flows: readonly FlowFact[]): Promise<readonly FlowHistory[]> {
  const fetched: FlowHistory[] = [];
  for (const { flowId } of flows) {
    const { startTime, closeTime } = await client.workflow.getHandle(flowId).describe();
    const runs = await runsOf(client, flowId);
    const events = runs.flatMap((history) => history.events ?? []);
    fetched.push({
      workflowId: flowId,
      runs,
      events: Math.max(...runs.map((history) => history.events?.length ?? 0)),
      signals: events.filter(isSignal).length,
      startedAtMs: startTime.getTime(),
      closedAtMs: closeTime?.getTime(),
    });
  }
  return fetched;
}

/** The last run, and by the run that each names as the one before it, the others. */
async function runsOf(client: Client, flowId: string): Promise<readonly History[]> {
  const runs: History[] = [];
  let runId: string | undefined;
  do {
    const history: History = await client.workflow.getHandle(flowId, runId).fetchHistory();
    runs.unshift(history);
    runId = history.events?.[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId || undefined;
  } while (runId !== undefined);
  return runs;
}

/** `13:05:01.200`, in UTC. */
export const timeOfDay = (epochMs: number): string => new Date(epochMs).toISOString().slice(11, -1);

/** When each event of its last run was recorded, and what it was. */
export function stepsOf(flow: FlowHistory | undefined): readonly string[] {
  return (flow?.runs.at(-1)?.events ?? []).map(({ eventTime, eventType }) => {
    const atMs = Number(eventTime?.seconds ?? 0) * 1_000 + (eventTime?.nanos ?? 0) / 1e6;
    return `${timeOfDay(atMs)} ${EventType[eventType ?? 0]?.replace('EVENT_TYPE_', '')}`;
  });
}

const { EventType } = proto.temporal.api.enums.v1;

interface ReplayedOn {
  readonly bundlePath: string;
  readonly dataConverter: DataConverter;
}

/** Shapes of the steps and results of all of them. @param on a bundle that reports them (test/harness/pairs.ts) */
export async function pairsOf(histories: readonly FlowHistory[], on: ReplayedOn): Promise<readonly string[]> {
  const pairs = new Set<string>();
  await replayAll(histories, on, pairs);
  return [...pairs].toSorted();
}

/** I9: on the bundle that ran. */
export async function replayAll(
  histories: readonly FlowHistory[],
  { bundlePath, dataConverter }: ReplayedOn,
  pairs?: Set<string>,
): Promise<readonly Violation[]> {
  const sinks = pairs === undefined ? {} : { sinks: pairSinks(pairs) };
  const options = { workflowBundle: { codePath: bundlePath }, dataConverter, namespace: NAMESPACE, ...sinks };
  const all = histories.flatMap(({ workflowId, runs }) => runs.map((history) => ({ workflowId, history })));
  const broken: Violation[] = [];
  for await (const { workflowId, error } of Worker.runReplayHistories(options, all)) {
    if (error) broken.push({ invariant: 'I9', what: `${workflowId} does not replay: ${error.message.slice(0, 300)}` });
  }
  return broken;
}

const SIGNAL_OF_EVENTS = 'events';

const isSignal = ({ workflowExecutionSignaledEventAttributes: signal }: HistoryEvent): boolean => signal != null;

/** A flow's report about itself. */
export interface Report {
  /** Ids of the events that it accounts for. */
  readonly events: ReadonlySet<string>;
  /** Why it is parked; undefined if it is not. */
  readonly parkReason: string | undefined;
  /** All of it. */
  readonly said: unknown;
}

/** By flow id. */
export async function readReports(
  client: Client,
  keys: PayloadKeys,
  histories: readonly FlowHistory[],
): Promise<ReadonlyMap<string, Report>> {
  const reports = new Map<string, Report>();
  for (const { workflowId, runs } of histories) {
    const last = runs.at(-1)?.events?.at(-1);
    const completed = last?.workflowExecutionCompletedEventAttributes?.result?.payloads;
    const failed = last?.workflowExecutionFailedEventAttributes?.failure?.applicationFailureInfo?.details?.payloads;
    const [sealed] = completed ?? failed ?? [];
    // A cancelled flow has no result, and a parked one has none yet: they are queried.
    const said = sealed ? openPayload(sealed, keys) : await client.workflow.getHandle(workflowId).query('flow');
    reports.set(workflowId, {
      events: new Set(Object.keys((at(said, 'events') as object | undefined) ?? {})),
      parkReason: at(said, 'view.parked.reason') as string | undefined,
      said,
    });
  }
  return reports;
}

/**
 * I10: each event that a signal carried is in its flow's own report; or the flow had ended, and the event is listed as
 * late. No row contradicts its flow's report about an event.
 */
export function signalsAccountedFor(
  { reports, keys, inbox }: SaidOfEvents,
  histories: readonly FlowHistory[],
): readonly Violation[] {
  const stateOf = new Map(inbox.map(({ id, state }) => [id, state]));
  const found: string[] = [];
  for (const history of histories) {
    const { workflowId } = history;
    const accountedFor = reports.get(workflowId)?.events ?? new Set();
    for (const id of signalledIn(history, keys)) {
      const state = stateOf.get(id);
      if (accountedFor.has(id) || state === 'late') continue;
      found.push(
        `an event that was signalled to ${workflowId} is ${state ?? 'nowhere'}, and the flow does not name it`,
      );
    }
    const says = inbox.filter(({ flowId, state }) => flowId === workflowId && FLOW_SAYS.includes(state));
    for (const { id, status, state } of says) {
      if (!accountedFor.has(id)) found.push(`${status} of ${workflowId} is ${state}, and the flow does not name it`);
    }
  }
  return found.map((what) => ({ invariant: 'I10', what }));
}

interface SaidOfEvents {
  readonly reports: ReadonlyMap<string, Report>;
  readonly keys: PayloadKeys;
  readonly inbox: Witnesses['inbox'];
}

/** States of a row that only its flow can know. */
const FLOW_SAYS = ['applied', 'duplicate'];

/** Ids of the events that signals brought to a flow. */
export const signalledIn = ({ runs }: FlowHistory, keys: PayloadKeys): ReadonlySet<string> =>
  new Set(runs.flatMap((history) => (history.events ?? []).flatMap((event) => idsOfSignal(event, keys))));

function idsOfSignal(event: HistoryEvent, keys: PayloadKeys): readonly string[] {
  const signal = event.workflowExecutionSignaledEventAttributes;
  if (signal?.signalName !== SIGNAL_OF_EVENTS) return [];
  const [payload] = signal.input?.payloads ?? [];
  const events = payload ? openPayload(payload, keys) : [];
  return Array.isArray(events) ? events.map((one) => String(at(one, 'id'))) : [];
}

interface SealedPayload {
  readonly data?: Uint8Array | null;
  readonly metadata?: Readonly<Record<string, Uint8Array>> | null;
}

/** The member of a payload's metadata that names the workflow for which it is sealed. */
const SEALED_FOR = 'encryption-flow-id';

const Payload = proto.temporal.api.common.v1.Payload;

/** @throws Error if it does not open */
export function openPayload({ data, metadata }: SealedPayload, keys: PayloadKeys): unknown {
  const named = metadata?.[SEALED_FOR];
  const place = ['payload', NAMESPACE, ...(named === undefined ? [] : [Buffer.from(named).toString('utf8')])];
  const plain = Payload.decode(openSealedBytes(data ?? new Uint8Array(), place, keys));
  const text = Buffer.from(plain.data).toString('utf8');
  return text === '' ? undefined : (JSON.parse(text) as unknown);
}

/** After a deadline a flow checks the status once more, and a POST of unknown outcome has its settle window. */
const GRACE_MS = 30_000;

/** I14: at rest no flow runs that is past the deadline of its order. */
export function noneOverdue(
  witnesses: Witnesses,
  histories: readonly FlowHistory[],
  nowMs: number,
): readonly Violation[] {
  const orders = new Map(ordersOf(witnesses).map(({ flowId, input }) => [flowId, input]));
  const running = witnesses.flows.filter(({ state }) => state === 'running');
  return running.flatMap(({ flowId }) => {
    const started = histories.find(({ workflowId }) => workflowId === flowId)?.startedAtMs;
    const input = orders.get(flowId);
    const seconds = Number(at(input, 'deadlineSeconds')) * Number(at(input, 'timeScale') ?? 1);
    const overdueMs = nowMs - (started ?? nowMs) - seconds * 1_000;
    // Without a deadline in its order it has days.
    if (!(overdueMs > GRACE_MS)) return [];
    return [{ invariant: 'I14', what: `${flowId} runs ${Math.round(overdueMs / 1_000)} s past its deadline` }];
  });
}
