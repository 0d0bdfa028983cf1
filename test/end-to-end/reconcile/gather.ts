import type { Client } from '@temporalio/client';
import { readJournal } from '../../harness/journal.js';
import type { WireRequest } from '../../harness/wire-log.js';
import { startedFlows } from './driver.js';
import { at } from './json.js';
import { MONEY } from './kinds.js';
import type { PayloadKeys } from './open-sealed.js';
import { readStore } from './read-store.js';
import type { DeliveryFact, ExecutionFact, FlowFact, LedgerEntry, ServiceRecord, Witnesses } from './witnesses.js';

/** The sources of the witnesses. */
export interface Sources {
  readonly client: Client;
  readonly taskQueue: string;
  readonly sandboxUrl: string;
  /** What the URLs of all gateways begin with. */
  readonly gatewayUrl: string;
  /** Path of the file, or URL of the database. */
  readonly storePath: string;
  /** What the store is sealed with. */
  readonly payloadKeys: PayloadKeys;
  /** Path of the driver's journal. */
  readonly journal: string;
  /** False if others order, too, such as a program that is tried out. */
  readonly drivenAlone: boolean;
  /** The requests to the service, if they are counted. */
  readonly wire?: () => readonly WireRequest[];
}

/** @param flows by `createFlowLookup` */
export async function gather(sources: Sources, flows: readonly FlowFact[]): Promise<Witnesses> {
  const { sandboxUrl, gatewayUrl, storePath, payloadKeys, journal, drivenAlone, wire } = sources;
  const [{ executions }, { entries, balances }, { deliveries }] = await Promise.all([
    ask<{ executions: ExecutionFact[] }>(sandboxUrl, '/executions'),
    ask<{ entries: LedgerEntry[]; balances: Witnesses['balances'] }>(sandboxUrl, '/ledger'),
    ask<{ deliveries: Delivery[] }>(sandboxUrl, '/deliveries'),
  ]);
  const references = new Set([...flows, ...executions].map(({ reference }) => reference));
  return {
    ...readJournal(journal),
    gatewayUrl,
    drivenAlone,
    wire: wire?.(),
    flows,
    executions,
    records: (await Promise.all([...references].map((reference) => recordsOf(sandboxUrl, reference)))).flat(),
    entries,
    balances,
    ...(await readStore(storePath, payloadKeys)),
    deliveries: deliveries.filter(({ url }) => url.startsWith(gatewayUrl)).map(deliveryFact),
  };
}

interface Delivery extends Pick<DeliveryFact, 'body' | 'reference' | 'status'> {
  readonly url: string;
  readonly note: string;
  readonly attempts: readonly { readonly status: number | null; readonly answer: string }[];
}

function deliveryFact({ url, note, body, reference, status, attempts }: Delivery): DeliveryFact {
  // What the adversary loses is never sent.
  const sent = attempts.filter(({ answer }) => !answer.startsWith('lost on the way'));
  const answers = sent.map((attempt) => attempt.status);
  return { path: new URL(url).pathname, body, reference, status, isGenuine: note === 'genuine', answers };
}

export async function ask<T>(sandboxUrl: string, path: string): Promise<T> {
  const answer = await fetch(`${sandboxUrl}/_sandbox${path}`);
  if (!answer.ok) throw new Error(`the sandbox answers ${answer.status} to ${path}`);
  return (await answer.json()) as T;
}

async function recordsOf(sandboxUrl: string, reference: string): Promise<ServiceRecord[]> {
  const found = async (path: string) => {
    const answer = await fetch(`${sandboxUrl}/_sandbox/${path}/${encodeURIComponent(reference)}`);
    return answer.ok ? ((await answer.json()) as { deposits?: Deposit[]; transactions?: Transaction[] }) : {};
  };
  const [{ deposits = [] }, { transactions = [] }] = await Promise.all([found('deposits'), found('transactions')]);
  return [
    ...deposits.map(({ status, request, refundConfig }) => ({
      operation: 'createBridgeDeposit',
      reference,
      status,
      body: request,
      refundAddress: refundConfig.fallback_address,
    })),
    ...transactions.map(({ operation, status, body }) => ({
      operation,
      reference,
      status,
      body,
      refundAddress: null,
    })),
  ];
}

interface Deposit {
  readonly status: string;
  readonly request: unknown;
  readonly refundConfig: { readonly fallback_address: string };
}

type Transaction = Pick<ServiceRecord, 'operation' | 'status' | 'body'>;

/**
 * The flows, as Temporal has them. Listed by the task queue, which lags; so flows that the driver knows of are looked
 * up by id. A closed flow does not change, and is read once.
 */
export function createFlowLookup({ client, taskQueue, journal }: Sources): () => Promise<readonly FlowFact[]> {
  const closed = new Map<string, FlowFact>();
  return async () => {
    const ids = new Set(startedFlows(readJournal(journal)));
    for await (const { workflowId } of client.workflow.list({ query: `TaskQueue = '${taskQueue}'` })) {
      if ((workflowId.split('/')[0] ?? '') in MONEY) ids.add(workflowId);
    }
    const flows = await Promise.all([...ids].map(async (id) => closed.get(id) ?? (await flowInTemporal(client, id))));
    return flows.flatMap((flow) => {
      if (flow === undefined) return [];
      if (!['running', 'parked'].includes(flow.state)) closed.set(flow.flowId, flow);
      return [flow];
    });
  };
}

/** A worker that does not answer in this time does not say what its flow's deadline is. */
const ANSWERED_WITHIN_MS = 5_000;

/** A flow that has not come to rest, with how long its deadline has passed, if it can be asked for that. */
export async function withOverdue({ client }: Pick<Sources, 'client'>, flow: FlowFact): Promise<FlowFact> {
  if (flow.state !== 'running') return flow;
  const query = () => client.workflow.getHandle(flow.flowId).query('flow');
  const found = await client.connection.withDeadline(Date.now() + ANSWERED_WITHIN_MS, query).catch(() => undefined);
  const overdueMs = Date.now() - Date.parse(String(at(found, 'view.deadlineAt')));
  return overdueMs > 0 ? { ...flow, overdueMs } : flow;
}

async function flowInTemporal(client: Client, flowId: string): Promise<FlowFact | undefined> {
  const handle = client.workflow.getHandle(flowId);
  try {
    const { status, searchAttributes } = await handle.describe();
    const [shown = 'nothing'] = (searchAttributes as Record<string, string[] | undefined>)['TowlineState'] ?? [];
    const [kind = '', ...rest] = flowId.split('/');
    const reason = status.name === 'FAILED' ? await reasonOf(client, flowId) : null;
    return { flowId, kind, reference: rest.join('/'), state: stateOf(status.name, shown), reason };
  } catch (error) {
    if ((error as Error).name === 'WorkflowNotFoundError') return undefined;
    throw error;
  }
}

/** States that a flow may show after closing so, or before. */
const SHOWN: Readonly<Record<string, readonly string[]>> = {
  COMPLETED: ['nothing', 'refunded'],
  FAILED: ['failed', 'expired'],
  CANCELLED: ['cancelled'],
};

function stateOf(status: string, shown: string): string {
  if (status === 'RUNNING') return shown === 'parked' ? 'parked' : 'running';
  // The gateway shows it as parked, and decides it on its claim.
  if (status === 'TERMINATED' || status === 'TIMED_OUT') return 'parked';
  if (SHOWN[status]?.includes(shown) === true) return shown === 'nothing' ? 'completed' : shown;
  return `${status} in Temporal and ${shown} by its attribute`;
}

async function reasonOf(client: Client, flowId: string): Promise<string | null> {
  const { events } = await client.workflow.getHandle(flowId).fetchHistory();
  const failure = events?.at(-1)?.workflowExecutionFailedEventAttributes?.failure;
  return failure?.applicationFailureInfo?.type ?? null;
}
