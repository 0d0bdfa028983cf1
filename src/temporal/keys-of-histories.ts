import type { Client } from '@temporalio/client';
import { KEY_ID } from './payload-codec.js';
import { callWithin } from './call-within.js';

/** The executions of a namespace whose histories may hold payloads of one payload key. */
export interface HistoriesOfKey {
  /** These cannot continue without the key. */
  readonly open: number;
  /** Closed, and kept until the namespace's retention is over: the UI shows them, and callers may read them. */
  readonly closed: number;
  /** When the last of the closed ones will be gone, by the current retention. */
  readonly keptUntil: Date | undefined;
}

/** The clocks of store and Temporal may differ. */
const CLOCKS_DIFFER_BY_MS = 60_000;
const PAGE = 1_000;
const WITHIN_MS = 30_000;

type Temporal = Pick<Client, 'workflowService' | 'connection'>;

/**
 * Counted from Temporal's visibility, without reading a history: executions that started before the key was last found
 * in use, and open ones whose memo the key has sealed, since a memo is carried on when a flow continues as new.
 *
 * @param replaced when each key was last found in use, ms
 * @throws ServiceError if Temporal cannot be reached
 */
export async function historiesOfKeys(
  temporal: Temporal,
  namespace: string,
  replaced: Readonly<Record<string, number>>,
): Promise<ReadonlyMap<string, HistoriesOfKey>> {
  const { workflowService } = temporal;
  const within = <Answer>(ask: () => Promise<Answer>) => callWithin(temporal, WITHIN_MS, ask);
  const count = async (query: string): Promise<number> => {
    const answer = await within(() => workflowService.countWorkflowExecutions({ namespace, query }));
    return Number(answer.count ?? 0);
  };
  const lastEnd = async (query: string): Promise<number | undefined> => {
    const list = () => workflowService.listWorkflowExecutions({ namespace, query, pageSize: 1 });
    const { executions } = await within(list);
    return secondsOf(executions[0]?.closeTime);
  };

  const described = await within(() => workflowService.describeNamespace({ namespace }));
  const retentionSeconds = secondsOf(described.config?.workflowExecutionRetentionTtl) ?? 0;
  const found = new Map<string, HistoriesOfKey>();
  for (const [keyId, atMs] of Object.entries(replaced)) {
    const before = `StartTime < "${new Date(atMs + CLOCKS_DIFFER_BY_MS).toISOString()}"`;
    const open = `${OURS} AND ExecutionStatus = "Running"`;
    const closed = `${OURS} AND ExecutionStatus != "Running" AND ${before}`;
    const carriedOn = await countMemos(
      (nextPageToken) =>
        within(() =>
          workflowService.listWorkflowExecutions({
            namespace,
            query: `${open} AND StartTime >= "${new Date(atMs + CLOCKS_DIFFER_BY_MS).toISOString()}"`,
            pageSize: PAGE,
            nextPageToken,
          }),
        ),
      keyId,
    );
    const ended = await lastEnd(closed);
    found.set(keyId, {
      open: (await count(`${open} AND ${before}`)) + carriedOn,
      closed: await count(closed),
      keptUntil: ended === undefined ? undefined : new Date((ended + retentionSeconds) * 1_000),
    });
  }
  return found;
}

/** The record of the deployment is always open, and unencrypted. */
const OURS = `WorkflowType != "towlineDeployment"`;

type Page = Awaited<ReturnType<Client['workflowService']['listWorkflowExecutions']>>;

async function countMemos(pageAfter: (token: Uint8Array) => Promise<Page>, keyId: string): Promise<number> {
  let total = 0;
  let token = new Uint8Array();
  do {
    const { executions, nextPageToken } = await pageAfter(token);
    total += executions.filter(({ memo }) =>
      Object.values(memo?.fields ?? {}).some(
        ({ metadata }) => Buffer.from(metadata?.[KEY_ID] ?? []).toString('utf8') === keyId,
      ),
    ).length;
    token = new Uint8Array(nextPageToken ?? []);
  } while (token.length > 0);
  return total;
}

function secondsOf(time: { seconds?: { toString(): string } | null } | null | undefined): number | undefined {
  return time == null ? undefined : Number(time.seconds?.toString() ?? 0);
}
