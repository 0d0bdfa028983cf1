import { type Client, type WorkflowExecutionDescription, WorkflowNotFoundError } from '@temporalio/client';
import { decodeOptionalFailureToOptionalError } from '@temporalio/common/lib/internal-non-workflow/index.js';
import { ApplicationFailure, WorkflowIdConflictPolicy, WorkflowIdReusePolicy } from '@temporalio/common';
import { inTurns } from '../in-turns.js';
import { systemClock } from '../clock.js';
import { type Asker, type AskWorker, limitQuestions, TooManyQuestionsError, TOWLINE } from './questions.js';
import {
  callbackIdOf,
  CALLBACKS_QUERY,
  CALLBACK_WORKFLOW,
  CHANGES_SIGNAL,
  flowIdOfCallbacks,
  RESEND_SIGNAL,
  STATE_ATTRIBUTE,
  TASK_QUEUE,
  UNDELIVERED,
} from '../protocol/vocabulary.js';
import type { CallbackFailure, CallbackOrder, CallbackReport, FlowChange, OpenCircuit } from '../protocol/callbacks.js';
import { callWithin } from './call-within.js';

/** The delivery of one flow's callbacks, as the server and its worker know it. */
export interface CallbackFacts {
  readonly isOpen: boolean;
  /** Undefined if no worker answers in time. */
  readonly report: CallbackReport | undefined;
  /** Of the callback that is being sent. */
  readonly attempts: number;
  readonly lastFailure: CallbackFailure | undefined;
  readonly nextAttemptAt: Date | undefined;
}

export interface ListedCallbacks {
  readonly flowId: string;
  readonly startedAt: Date;
}

type ResendOutcome = 'ordered' | 'not-found' | 'no-answer';

/** Which of some deliveries are listed. Called for each page that was read: ten at most, of 200 each, newest first. */
export type KeepListed = (some: readonly ListedCallbacks[]) => Promise<readonly ListedCallbacks[]>;

export interface CallbackHandles {
  /** Undefined if there was never a callback to send. */
  facts(flowId: string, asker: Asker): Promise<CallbackFacts | undefined>;
  /** Sends the newest callback again, under its own id. @throws TooManyQuestionsError */
  resend(flowId: string, actor: string): Promise<ResendOutcome>;
  /** Sends the caller that its flow's end is contradicted. `no-answer`: not known whether there is a caller to tell. */
  contradict(flowId: string): Promise<ResendOutcome>;
  /** `undelivered`: those that wait for a person; `open`: all in progress. */
  list(which: 'undelivered' | 'open', limit: number, keep?: KeepListed): Promise<readonly ListedCallbacks[]>;
  /**
   * Origins that do not answer, by the last attempt of each delivery: from the 200 newest in progress. Each worker has
   * circuits of its own: `since` is that of the first.
   */
  openCircuits(): Promise<readonly (OpenCircuit & { readonly flows: number })[]>;
}

const WITHIN_MS = 5_000;
const REPORT_WITHIN_MS = 3_000;

const OPEN = `WorkflowType = '${CALLBACK_WORKFLOW}' AND ExecutionStatus = 'Running'`;
/** For visibility: deliveries that wait for a person. */
export const UNDELIVERED_CALLBACKS = `${OPEN} AND ${STATE_ATTRIBUTE} = '${UNDELIVERED}'`;

const PAGE_SIZE = 500;
const MOST_ASKED = 200;
export const MOST_KEPT_PAGES = 10;
const ASKED_AT_ONCE = 8;

export function createCallbackHandles(
  client: Client,
  {
    taskQueue = TASK_QUEUE,
    askWorker = limitQuestions(),
  }: { readonly taskQueue?: string | undefined; readonly askWorker?: AskWorker } = {},
): CallbackHandles {
  const within = <T>(ms: number, ask: () => Promise<T>) => callWithin(client, ms, ask);
  const handleOf = (flowId: string) => client.workflow.getHandle(callbackIdOf(flowId));

  const reportOf = (flowId: string, asker: Asker) =>
    askWorker(asker, REPORT_WITHIN_MS, () =>
      within(REPORT_WITHIN_MS, () => handleOf(flowId).query<CallbackReport>(CALLBACKS_QUERY)),
    );

  /** It has ended, with everything delivered or given up: another one continues where it stopped. */
  async function startAgain(flowId: string, actor: string): Promise<ResendOutcome> {
    if ((await orNotFound(() => within(WITHIN_MS, () => handleOf(flowId).describe()))) === undefined) {
      return 'not-found';
    }
    const order = (await reportOf(flowId, { name: actor, isOrder: true }))?.order;
    if (order === undefined) return 'no-answer';
    await start(order);
    return 'ordered';
  }

  async function contradict(flowId: string): Promise<ResendOutcome> {
    const delivery = await orNotFound(() => within(WITHIN_MS, () => handleOf(flowId).describe()));
    if (delivery === undefined) return 'not-found';
    const order = (await reportOf(flowId, TOWLINE))?.order;
    if (order === undefined) return 'no-answer';
    const { again: last, ...kept } = order;
    if (last === undefined) return 'not-found';
    // Each change of a flow is newer than the one before.
    const afterLastMs = Date.parse(last.change.timestamp) + 1;
    const timestamp = new Date(Math.max(systemClock.nowMs(), afterLastMs)).toISOString();
    const change: FlowChange = { ...last.change, timestamp, contradicted: true };
    const isRunning = delivery.status.name === 'RUNNING';
    const signal = () => handleOf(flowId).signal<[readonly FlowChange[]]>(CHANGES_SIGNAL, [change]);
    const signalled = isRunning && (await orNotFound(() => within(WITHIN_MS, async () => (await signal(), true))));
    if (signalled !== true) await start({ ...kept, changes: [change] });
    return 'ordered';
  }

  const start = (order: CallbackOrder) =>
    within(WITHIN_MS, () =>
      client.workflow.start<(order: CallbackOrder) => Promise<unknown>>(CALLBACK_WORKFLOW, {
        workflowId: callbackIdOf(order.flowId),
        taskQueue,
        args: [order],
        workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
        workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
        staticSummary: `Callbacks of ${order.flowId}`,
      }),
    );

  /** Each page when it is needed. */
  async function* pagesOf(query: string, size: number): AsyncGenerator<readonly ListedCallbacks[]> {
    let page: ListedCallbacks[] = [];
    for await (const { workflowId, startTime } of client.workflow.list({
      query,
      pageSize: Math.min(size, PAGE_SIZE),
    })) {
      const flowId = flowIdOfCallbacks(workflowId);
      if (flowId !== undefined) page.push({ flowId, startedAt: startTime });
      if (page.length < size) continue;
      yield page;
      page = [];
    }
    if (page.length > 0) yield page;
  }

  async function list(query: string, limit: number): Promise<readonly ListedCallbacks[]> {
    for await (const page of pagesOf(query, limit)) return page;
    return [];
  }

  return {
    async facts(flowId, asker) {
      const [found, report] = await Promise.all([
        orNotFound(() => within(WITHIN_MS, () => handleOf(flowId).describe())),
        reportOf(flowId, asker).catch((error: unknown) => {
          if (error instanceof TooManyQuestionsError) return undefined;
          throw error;
        }),
      ]);
      if (found === undefined) return undefined;
      return { isOpen: found.status.name === 'RUNNING', report, ...(await attemptsOf(client, found)) };
    },

    async resend(flowId, actor) {
      const signal = () => handleOf(flowId).signal<[{ actor: string }]>(RESEND_SIGNAL, { actor });
      const signalled = await orNotFound(() => within(WITHIN_MS, async () => (await signal(), true)));
      return signalled === true ? 'ordered' : startAgain(flowId, actor);
    },

    contradict,

    async list(which, limit, keep) {
      const query = which === 'open' ? OPEN : UNDELIVERED_CALLBACKS;
      if (keep === undefined) return list(query, limit);
      const kept: ListedCallbacks[] = [];
      let pages = 0;
      for await (const page of pagesOf(query, MOST_ASKED)) {
        kept.push(...(await keep(page)));
        pages += 1;
        if (kept.length >= limit || pages === MOST_KEPT_PAGES) break;
      }
      return kept.slice(0, limit);
    },

    async openCircuits() {
      const found = new Map<string, { since: string; flows: number }>();
      await inTurns(await list(OPEN, MOST_ASKED), ASKED_AT_ONCE, async ({ flowId }) => {
        const described = await orNotFound(() => within(WITHIN_MS, () => handleOf(flowId).describe()));
        const circuit = described && (await attemptsOf(client, described)).lastFailure?.circuit;
        if (!circuit) return;
        const { since, flows } = found.get(circuit.origin) ?? { since: circuit.since, flows: 0 };
        found.set(circuit.origin, { since: since < circuit.since ? since : circuit.since, flows: flows + 1 });
      });
      return [...found].map(([origin, facts]) => ({ origin, ...facts }));
    },
  };
}

/** Attempts belong to the server: the workflow only sees the result. */
async function attemptsOf(client: Client, { raw }: WorkflowExecutionDescription) {
  const pending = raw.pendingActivities?.[0];
  const failed = await decodeOptionalFailureToOptionalError(
    client.options.loadedDataConverter,
    pending?.lastFailure ?? undefined,
  ).catch(() => undefined);
  const details = failed instanceof ApplicationFailure ? failed.details?.[0] : undefined;
  const nextSeconds = pending?.nextAttemptScheduleTime?.seconds;
  return {
    attempts: pending?.attempt ?? 0,
    lastFailure: details as CallbackFailure | undefined,
    nextAttemptAt: nextSeconds == null ? undefined : new Date(Number(nextSeconds) * 1_000),
  };
}

async function orNotFound<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}
