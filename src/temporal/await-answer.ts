import {
  type Client,
  WithStartWorkflowOperation,
  WorkflowExecutionAlreadyStartedError,
  WorkflowIdConflictPolicy,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
  WorkflowUpdateStage,
} from '@temporalio/client';
import { ApplicationFailure, type Workflow } from '@temporalio/common';
import { newestMac } from '../protocol/fingerprint.js';
import { type FlowKind, UPDATES } from '../protocol/vocabulary.js';
import { GRPC, grpcStatusOf } from './connection.js';
import { type Starter, startOptions, type StartFlowDeps } from './start-flow.js';
import type { SubmitAnswer } from '../protocol/messages.js';
import { callWithin } from './call-within.js';

/** The result of waiting for a flow's answer to an update: to `answer` and `pay`, that of the service to its POST. */
export type Awaited<Answer = SubmitAnswer> =
  | { readonly kind: 'answered'; readonly answer: Answer }
  /** The flow refused the order; `type` is its word for the cause. */
  | { readonly kind: 'refused'; readonly type: string; readonly message: string }
  /** The flow closed before it could answer, or there is none: its claims and its view know more. */
  | { readonly kind: 'closed' }
  /** The time is up. `accepted`: the flow has the order in its history; else it may never have received it. */
  | { readonly kind: 'not-yet'; readonly accepted: boolean };

export interface Waiting {
  readonly withinMs: number;
  /** Ends the waiting: the gateway closes. */
  readonly signal?: AbortSignal;
}

/** No worker took it in time: a run holds ten open updates, and more pile up; its last workflow task failed. */
const NOT_TAKEN: readonly number[] = [GRPC.deadlineExceeded, GRPC.resourceExhausted, GRPC.failedPrecondition];

/**
 * Starts the flow of `input` and waits for the service's answer, in one request: update-with-start. `exists`: the
 * reference has a flow, running or closed; the caller has to compare its content.
 */
export async function startAndAwaitAnswer(
  deps: StartFlowDeps,
  kind: FlowKind,
  input: unknown,
  waiting: Waiting,
  by?: Starter,
): Promise<Awaited | { readonly kind: 'exists' }> {
  const { workflowType, fingerprint, options } = startOptions(deps, kind, input, by);
  const startWorkflowOperation = new WithStartWorkflowOperation(workflowType, {
    ...options,
    workflowIdConflictPolicy: WorkflowIdConflictPolicy.FAIL,
  });
  const update = () =>
    deps.client.workflow.executeUpdateWithStart<Workflow, SubmitAnswer, []>(UPDATES.answer, {
      startWorkflowOperation,
      updateId: answerUpdateId(fingerprint),
    });
  try {
    return { kind: 'answered', answer: await within(deps.client, waiting, update) };
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return { kind: 'exists' };
    return whatItMeans(error, false);
  }
}

/** The same update for all callers of this answer: a run holds ten open ones, and this is one of them. */
export const answerUpdateId = (fingerprint: string): string => `answer-${newestMac(fingerprint)}`;

/** Waits for a flow's answer to one update. The same id is the same update, however often it is sent. */
export async function awaitUpdate<Answer = SubmitAnswer>(
  client: Client,
  flowId: string,
  update: { readonly name: string; readonly id: string; readonly args: readonly unknown[] },
  waiting: Waiting,
): Promise<Awaited<Answer>> {
  const { name, id: updateId, args } = update;
  let isAccepted = false;
  const send = async () => {
    const sent = await client.workflow.getHandle(flowId).startUpdate<Answer, [unknown]>(name, {
      updateId,
      args: [...args] as [unknown],
      waitForStage: WorkflowUpdateStage.ACCEPTED,
    });
    isAccepted = true;
    return sent.result();
  };
  try {
    return { kind: 'answered', answer: await within(client, waiting, send) };
  } catch (error) {
    return whatItMeans(error, isAccepted);
  }
}

/** With a signal of its own for each call: the connection never removes its listener. */
async function within<T>(client: Client, { withinMs, signal }: Waiting, ask: () => Promise<T>): Promise<T> {
  const bounded = () => callWithin(client, withinMs, ask);
  if (signal === undefined) return bounded();
  const own = new AbortController();
  const abort = () => own.abort();
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  try {
    return await client.connection.withAbortSignal(own.signal, bounded);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

function whatItMeans(error: unknown, accepted: boolean): Awaited<never> {
  if (error instanceof WorkflowNotFoundError) return { kind: 'closed' };
  if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError) return { kind: 'not-yet', accepted };
  if (error instanceof WorkflowUpdateFailedError) {
    // Accepted, and the flow closed before it was done: not a refusal of ours.
    if (!(error.cause instanceof ApplicationFailure) || error.cause.type === ENDED) return { kind: 'closed' };
    return { kind: 'refused', type: error.cause.type ?? 'refused', message: error.cause.message };
  }
  if (NOT_TAKEN.includes(grpcStatusOf(error) ?? -1)) return { kind: 'not-yet', accepted };
  throw error;
}

/** The server's own word for an update that its workflow left unfinished. */
const ENDED = 'AcceptedUpdateCompletedWorkflow';
