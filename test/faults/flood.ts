import type { Client } from '@temporalio/client';
import type { FlowReport } from '../../src/api/flow.js';
import { inTurns } from '../../src/in-turns.js';

/** Temporal's own limit is 10,000 for a run; ours is 180, plus those that come meanwhile. */
export const MOST_SIGNALS_PER_RUN = 200;
const AT_ONCE = 20;

export interface Flooded {
  readonly state: string;
  /** Different events that the flow took. */
  readonly taken: number;
  readonly signalsByRun: readonly number[];
}

export interface Flood {
  readonly events: number;
  /** This many are sent at once; then `taken` is awaited. */
  readonly burst: number;
  readonly send: (status: 'PAYMENT_SENT' | 'COMPLETED', turn: number) => Promise<void>;
  readonly taken: (sent: number) => Promise<void>;
}

/** Sends a flow all events but one, and then the one that ends it. */
export async function flood(
  client: Client,
  workflowId: string,
  { events: n, burst, send, taken }: Flood,
): Promise<Flooded> {
  const turns = Array.from({ length: n - 1 }, (_, turn) => turn);
  for (let sent = 0; sent < turns.length; sent += burst) {
    const now = turns.slice(sent, sent + burst);
    await inTurns(now, AT_ONCE, (turn) => send('PAYMENT_SENT', turn));
    await taken(sent + now.length);
  }
  await send('COMPLETED', n - 1);
  const { view, events } = (await client.workflow.getHandle(workflowId).result()) as FlowReport;
  return {
    state: view.state,
    taken: Object.keys(events).length,
    signalsByRun: await signalsByRun(client, workflowId),
  };
}

/** First to last. */
async function signalsByRun(client: Client, workflowId: string): Promise<readonly number[]> {
  const counts: number[] = [];
  const { raw } = await client.workflow.getHandle(workflowId).describe();
  for (let runId = raw.workflowExecutionInfo?.firstRunId ?? undefined; runId != null;) {
    const { events } = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    counts.push(events?.filter((event) => event.workflowExecutionSignaledEventAttributes).length ?? 0);
    runId = events?.at(-1)?.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId ?? undefined;
  }
  return counts;
}
