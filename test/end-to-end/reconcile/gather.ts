import type { Client } from '@temporalio/client';
import { MONEY } from './kinds.js';
import { readStore } from './read-store.js';
import type { Execution, FlowFact, LedgerEntry, ServiceRecord, Witnesses } from './witnesses.js';

/** Where the witnesses are found. */
export interface Sources {
  readonly client: Client;
  readonly taskQueue: string;
  readonly sandboxUrl: string;
  /** What the URLs of all gateways begin with. */
  readonly gatewayUrl: string;
  /** Path of the file, or URL of the database. */
  readonly storePath: string;
  /** Flow ids that the gateway has told a caller of. */
  readonly started: ReadonlySet<string>;
  /** How many webhooks the test itself has posted that were answered 2xx. */
  readonly posted: () => number;
}

/** @param flows by `createFlowLookup` */
export async function gather(sources: Sources, flows: readonly FlowFact[]): Promise<Witnesses> {
  const { sandboxUrl, gatewayUrl, storePath, started } = sources;
  const [{ executions }, { entries, balances }, { deliveries }] = await Promise.all([
    ask<{ executions: Execution[] }>(sandboxUrl, '/executions'),
    ask<{ entries: LedgerEntry[]; balances: Witnesses['balances'] }>(sandboxUrl, '/ledger'),
    ask<{ deliveries: Delivery[] }>(sandboxUrl, '/deliveries'),
  ]);
  const attempts = deliveries.filter(({ url }) => url.startsWith(gatewayUrl)).flatMap((delivery) => delivery.attempts);
  return {
    started: [...started],
    flows,
    executions,
    records: (await Promise.all(flows.map((flow) => recordsOf(sandboxUrl, flow)))).flat(),
    entries,
    balances,
    ...(await readStore(storePath)),
    answered: attempts.filter(({ status }) => status !== null && status < 300).length + sources.posted(),
    // What the adversary loses is never sent.
    unanswered: attempts.filter(({ status, answer }) => status === null && !answer.startsWith('lost on the way'))
      .length,
  };
}

interface Delivery {
  readonly url: string;
  readonly attempts: readonly { readonly status: number | null; readonly answer: string }[];
}

export async function ask<T>(sandboxUrl: string, path: string): Promise<T> {
  const answer = await fetch(`${sandboxUrl}/_sandbox${path}`);
  if (!answer.ok) throw new Error(`the sandbox answers ${answer.status} to ${path}`);
  return (await answer.json()) as T;
}

async function recordsOf(sandboxUrl: string, { kind, reference }: FlowFact): Promise<ServiceRecord[]> {
  const isBridge = kind === 'bridge-transfer';
  const answer = await fetch(`${sandboxUrl}/_sandbox/${isBridge ? 'deposits' : 'transactions'}/${reference}`);
  if (answer.status === 404) return [];
  const { deposits = [], transactions = [] } = (await answer.json()) as {
    deposits?: { status: string }[];
    transactions?: ServiceRecord[];
  };
  return [
    ...deposits.map(({ status }) => ({ operation: 'createBridgeDeposit', reference, status })),
    ...transactions.map(({ operation, status }) => ({ operation, reference, status })),
  ];
}

/**
 * The flows, as Temporal has them. Listed by the task queue, which lags behind; so those that somebody was told of are
 * looked up by id. What has closed stays as it is, and is asked about once.
 */
export function createFlowLookup({ client, taskQueue, started }: Sources): () => Promise<readonly FlowFact[]> {
  const closed = new Map<string, FlowFact>();
  return async () => {
    const ids = new Set(started);
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

/** What may stand on a flow that has closed so, or not yet. */
const SHOWN: Readonly<Record<string, readonly string[]>> = {
  COMPLETED: ['completed', 'refunded'],
  FAILED: ['failed', 'expired'],
  CANCELLED: ['cancelled'],
};

function stateOf(status: string, shown: string): string {
  if (status === 'RUNNING') return shown === 'parked' ? 'parked' : 'running';
  // The gateway shows it as parked, and decides it on its claim.
  if (status === 'TERMINATED' || status === 'TIMED_OUT') return 'parked';
  return SHOWN[status]?.includes(shown) === true ? shown : `${status} in Temporal and ${shown} by its attribute`;
}

async function reasonOf(client: Client, flowId: string): Promise<string | null> {
  const { events } = await client.workflow.getHandle(flowId).fetchHistory();
  const failure = events?.at(-1)?.workflowExecutionFailedEventAttributes?.failure;
  return failure?.applicationFailureInfo?.type ?? null;
}
