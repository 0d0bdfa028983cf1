import {
  ServiceError,
  WorkflowExecutionAlreadyStartedError,
  WorkflowFailedError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
  type Client,
} from '@temporalio/client';
import {
  CancelledFailure,
  DefaultFailureConverter,
  defaultPayloadConverter,
  RetryState,
  TerminatedFailure,
} from '@temporalio/common';
import { fromFailure, fromPayload, toPayload, type Failure } from './payloads.js';
import { eventsOf } from './history.js';
import { isOpen, type Run } from './run.js';
import type { TemporalServer } from './temporal-server.js';

/** A call from one process to Temporal. */
type Ask = <T>(label: string, work: () => T | Promise<T>) => Promise<T>;

export interface ClientDeps {
  readonly server: TemporalServer;
  readonly ask: Ask;
  /** Runs `work` in the client's process after this time. */
  readonly after: (ms: number, work: () => void) => () => void;
  /** Resolves when the newest run of a workflow is closed, for callers that wait for its result. */
  readonly closed?: (workflowId: string) => Promise<Run>;
}

const UPDATE_WITHIN_MS = 10_000;

/** As much of the SDK's client as gateway and activities use, over the model. */
export function createSimClient({ server, ask, after, closed }: ClientDeps): Client {
  let updates = 0;

  const notFound = (workflowId: string) => new WorkflowNotFoundError('workflow not found', workflowId, undefined);

  const known = (workflowId: string): Run => {
    const run = server.current(workflowId);
    if (run === undefined) throw notFound(workflowId);
    return run;
  };

  async function startUpdate(workflowId: string, name: string, args: readonly unknown[]) {
    const id = `update-${workflowId}-${(updates += 1)}`;
    const answer = await new Promise<UpdateAnswer>((resolve, reject) => {
      let result: (said: UpdateEnd) => void = () => undefined;
      const ended = new Promise<UpdateEnd>((done) => (result = done));
      const cancelTimer = after(UPDATE_WITHIN_MS, () =>
        reject(new WorkflowUpdateRPCTimeoutOrCancelledError('no answer in time')),
      );
      const fail = (error: Error): void => {
        cancelTimer();
        reject(error);
        result({ error });
      };
      const pending = {
        accepted: () => resolve({ ended }),
        rejected: (failure: Failure) => fail(new WorkflowUpdateFailedError('rejected', fromFailure(failure))),
        completed(value: unknown) {
          cancelTimer();
          resolve({ ended });
          result({ value });
        },
        gone: () => fail(notFound(workflowId)),
      };
      ask(`update ${name} ${workflowId}`, () => server.update(workflowId, { id, name, args: args.map(toPayload) }, pending)) // prettier-ignore
        .then((isTaken) => {
          if (!isTaken) fail(notFound(workflowId));
          return undefined;
        })
        .catch(fail);
    });
    return {
      async result() {
        const said = await answer.ended;
        if ('error' in said) throw said.error;
        return said.value;
      },
    };
  }

  const getHandle = (workflowId: string) => ({
    workflowId,
    async signal(name: string, ...args: readonly unknown[]) {
      const isTaken = await ask(`signal ${name} ${workflowId}`, () => server.signal(workflowId, name, args.map(toPayload))); // prettier-ignore
      if (!isTaken) throw notFound(workflowId);
    },
    async cancel() {
      if (!(await ask(`cancel ${workflowId}`, () => server.requestCancel(workflowId)))) throw notFound(workflowId);
    },
    describe: () => ask(`describe ${workflowId}`, () => descriptionOf(known(workflowId))),
    async query(name: string) {
      const said = await ask(`query ${workflowId}`, () => server.query(workflowId, name));
      if (said === undefined) throw unavailable();
      return said;
    },
    startUpdate: (name: string, options: UpdateOptions = {}) => startUpdate(workflowId, name, options.args ?? []),
    executeUpdate: async (name: string, options: UpdateOptions = {}) =>
      (await startUpdate(workflowId, name, options.args ?? [])).result(),
    async terminate() {
      if (!(await ask(`terminate ${workflowId}`, () => server.terminate(workflowId)))) throw notFound(workflowId);
    },
    result: async () => resultOf(await closed?.(known(workflowId).workflowId)),
    fetchHistory: () => ask(`history ${workflowId}`, () => ({ events: eventsOf(known(workflowId)) })),
  });

  const client = {
    options: { namespace: 'default', loadedDataConverter: CONVERTER },
    connection: {
      withDeadline: <T>(_deadline: number, work: () => Promise<T>) => work(),
      withAbortSignal: <T>(_signal: AbortSignal, work: () => Promise<T>) => work(),
    },
    workflow: {
      getHandle,
      async start(type: string, options: StartOptions) {
        const { workflowId, args, memo } = options;
        const run = await ask(`start ${workflowId}`, () =>
          server.start({ workflowId, type, args: args.map(toPayload), ...(memo === undefined ? {} : { memo }) }),
        );
        if (run !== 'already-started') return { ...getHandle(workflowId), firstExecutionRunId: run.runId };
        const before = server.current(workflowId);
        const mayUse = options.workflowIdConflictPolicy === 'USE_EXISTING' && before !== undefined && isOpen(before);
        if (!mayUse) throw new WorkflowExecutionAlreadyStartedError('already', workflowId, type);
        return { ...getHandle(workflowId), firstExecutionRunId: before.runId };
      },
    },
    workflowService: {
      getWorkflowExecutionHistory: ({ execution }: { readonly execution: { readonly workflowId: string } }) =>
        ask(`history ${execution.workflowId}`, () => ({
          history: { events: [closingEvent(known(execution.workflowId))] },
        })),
    },
  };
  return client as unknown as Client;
}

type UpdateEnd = { readonly value: unknown } | { readonly error: Error };
interface UpdateAnswer {
  readonly ended: Promise<UpdateEnd>;
}
interface UpdateOptions {
  readonly args?: readonly unknown[];
}
interface StartOptions {
  readonly workflowIdConflictPolicy?: string;
  readonly workflowId: string;
  readonly args: readonly unknown[];
  readonly memo?: Readonly<Record<string, unknown>>;
}

const CONVERTER = {
  payloadConverter: defaultPayloadConverter,
  failureConverter: new DefaultFailureConverter({ encodeCommonAttributes: true }),
  payloadCodecs: [],
};

const STATUS_NUMBERS = {
  RUNNING: 1,
  COMPLETED: 2,
  FAILED: 3,
  CANCELLED: 4,
  TERMINATED: 5,
  CONTINUED_AS_NEW: 6,
} as const;

const descriptionOf = (run: Run) => ({
  status: { name: run.status, code: STATUS_NUMBERS[run.status] },
  type: run.type,
  runId: run.runId,
  workflowId: run.workflowId,
  startTime: new Date(run.startedAtMs),
  closeTime: run.closedAtMs === undefined ? undefined : new Date(run.closedAtMs),
  memo: run.memo,
  searchAttributes: run.attribute === undefined ? {} : { TowlineState: [run.attribute] },
  historyLength: eventsOf(run).length,
  // What was cancelled by its end is left open, and no task comes of it.
  raw: { pendingWorkflowTask: isOpen(run) && run.pending.length > 0 ? {} : undefined },
});

/** Like `WorkflowHandle.result`. @throws WorkflowFailedError */
function resultOf(run: Run | undefined): unknown {
  if (run?.status === 'COMPLETED') return fromPayload(run.result);
  const cause = causeOf(run);
  throw new WorkflowFailedError(
    `Workflow execution ${run?.status.toLowerCase()}`,
    cause,
    RetryState.NON_RETRYABLE_FAILURE,
  );
}

function causeOf(run: Run | undefined): Error {
  if (run?.status === 'CANCELLED') return new CancelledFailure('Workflow canceled');
  if (run?.status === 'TERMINATED') return new TerminatedFailure('Workflow execution terminated');
  return fromFailure(run?.failure ?? {});
}

function closingEvent(run: Run): object {
  if (run.status === 'COMPLETED') {
    return { workflowExecutionCompletedEventAttributes: { result: { payloads: run.result ? [run.result] : [] } } };
  }
  if (run.status === 'FAILED') return { workflowExecutionFailedEventAttributes: { failure: run.failure } };
  return {};
}

/** The SDK's error if the server is down. */
export function unavailable(): Error {
  const cause = Object.assign(new Error('14 UNAVAILABLE: simulated'), { code: 14, details: 'simulated', metadata: {} });
  return new ServiceError('Temporal is away', { cause });
}
