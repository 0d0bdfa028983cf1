import {
  type Client,
  type WorkflowExecutionDescription,
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
} from '@temporalio/client';
import { WorkflowIdConflictPolicy, WorkflowIdReusePolicy } from '@temporalio/common';
import { flowOf } from '../flows/index.js';
import {
  FLOW_KINDS,
  flowIdOf,
  TASK_QUEUE,
  workflowTypeOf,
  type FlowKind,
  EVENTS_SIGNAL,
} from '../protocol/vocabulary.js';
import type { Store } from '../store/store.js';
import { sameFingerprint } from '../protocol/fingerprint.js';
import { flowFingerprint } from '../store/store-key.js';
import type { FlowEvent } from '../protocol/messages.js';
import { traced, traceStart } from '../tracing.js';
import { callWithin } from './call-within.js';

export interface StartFlowDeps {
  readonly client: Client;
  readonly store: Pick<Store, 'macs'>;
  /** @default `towline` */
  readonly taskQueue?: string | undefined;
}

export interface StartedFlow {
  /** False: it was there before, with the same content, running or closed. */
  readonly started: boolean;
  readonly flowId: string;
  readonly runId: string;
}

const START_WITHIN_MS = 10_000;
/** A worker takes a moment to check the input of a flow that another client started. */
const LEARN_WITHIN_MS = 5_000;
const LEARN_PAUSE_MS = 100;

/** Who starts a flow through a gateway. */
export interface Starter {
  readonly name: string;
  /** Of the entry in the audit log: the flow keeps that of the start which Temporal took. */
  readonly startId: string;
}

/** Temporal takes 64 bytes, in the clear: of a name, a MAC. */
const FAIRNESS_KEY_LENGTH = 32;

/**
 * A name's tasks wait for each other, and not another name's for them: ten thousand flows of one that came first hold up no
 * payment of the next one. A flow's tasks and its callbacks have the same key. Without `matching.enableFairness` the server
 * takes no notice.
 */
const priorityOf = ({ store }: StartFlowDeps, { name }: Starter) => ({
  fairnessKey: (store.macs('fairness', name)[0] ?? '').slice(0, FAIRNESS_KEY_LENGTH),
});

/** The common options of every start of a flow, for `start` and for update-with-start. */
export function startOptions(deps: StartFlowDeps, kind: FlowKind, input: unknown, by?: Starter) {
  const flow = flowOf(kind);
  const reference = flow.referenceOf(input);
  const fingerprint = flowFingerprint(deps.store, flow, input);
  const money = flow.moneyOf?.(input);
  return {
    workflowType: workflowTypeOf(kind),
    fingerprint,
    options: {
      workflowId: flowIdOf(kind, reference),
      taskQueue: deps.taskQueue ?? TASK_QUEUE,
      args: [input] as [unknown],
      workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
      memo: {
        fingerprint,
        ...(money && { amount: money.amount, currency: money.currency }),
        ...(by && { start: by.startId }),
      },
      ...(by && { priority: priorityOf(deps, by) }),
      staticSummary: flow.summaryOf(input),
      staticDetails: `Reference ${reference}`,
    },
  };
}

/**
 * Starts the flow of `input`, or finds the one that its reference has.
 *
 * The conflict policy is FAIL, not USE_EXISTING: both leave a running flow alone, but FAIL reports that there was one
 * (the client hides that part of the answer), and saves a query for every new flow. A start whose answer got lost is
 * repeated by the client with the same request id, which the server takes as the same start.
 *
 * @param input parsed by the flow's own schema
 * @throws OtherRequestError
 */
export async function startFlow(
  deps: StartFlowDeps,
  kind: FlowKind,
  input: unknown,
  by?: Starter,
): Promise<StartedFlow> {
  const { workflowType, fingerprint, options } = startOptions(deps, kind, input, by);
  const flowId = options.workflowId;
  try {
    const start = () =>
      deps.client.workflow.start(workflowType, {
        ...options,
        workflowIdConflictPolicy: WorkflowIdConflictPolicy.FAIL,
      });
    const handle = await traced({ name: 'start flow', flowId }, () => callWithin(deps.client, START_WITHIN_MS, start));
    traceStart(flowId, kind);
    return { started: true, flowId, runId: handle.firstExecutionRunId };
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    const found = await whatIsThere(deps.client, flowId);
    if (found.type !== workflowType) {
      throw new OtherRequestError(flowId, `as the workflow type "${found.type}", and not as "${workflowType}"`);
    }
    const known = found.memo?.['fingerprint'];
    if (typeof known !== 'string') throw new OtherRequestError(flowId, 'and its content cannot be compared with this');
    if (!sameFingerprint(known, fingerprint)) throw new OtherRequestError(flowId);
    return { started: false, flowId, runId: found.runId };
  }
}

/**
 * A flow that another Temporal client started gets its fingerprint in its own first step (`keepFingerprint`): this
 * waits for it while the flow runs, and only for a short time, since there may be no worker.
 */
async function whatIsThere(client: Client, flowId: string): Promise<WorkflowExecutionDescription> {
  const endsAtMs = performance.now() + LEARN_WITHIN_MS;
  for (;;) {
    const found = await callWithin(client, LEARN_WITHIN_MS, () => client.workflow.getHandle(flowId).describe());
    const isKnown = typeof found.memo?.['fingerprint'] === 'string' || parseFlowType(found.type) === undefined;
    if (isKnown || found.status.name !== 'RUNNING' || performance.now() > endsAtMs) return found;
    await new Promise((resolve) => setTimeout(resolve, LEARN_PAUSE_MS));
  }
}

/** The kind of a workflow type; undefined if it is none of ours. */
function parseFlowType(type: string): FlowKind | undefined {
  return FLOW_KINDS.find((kind) => workflowTypeOf(kind) === type);
}

/** A flow of this reference exists, and it is not, or is not known to be, what this caller asked for. */
export class OtherRequestError extends Error {
  override readonly name = 'OtherRequestError';
  readonly flowId: string;

  constructor(flowId: string, why = 'with other content') {
    super(`The flow ${flowId} exists already ${why}. Check that flow first: a new reference is a second request.`);
    this.flowId = flowId;
  }
}

/** `not-found`: closed, or never started; `describe` says which. */
export type SignalOutcome = 'delivered' | 'not-found';

const DEADLINE_MS = 5_000;

/**
 * One signal with a batch of events. A signal whose answer was lost may arrive twice: flows take each event id once.
 * @throws ServiceError if Temporal cannot be reached
 */
export async function signalFlow(client: Client, flowId: string, events: readonly FlowEvent[]): Promise<SignalOutcome> {
  const send = () => client.workflow.getHandle(flowId).signal<[readonly FlowEvent[]]>(EVENTS_SIGNAL, events);
  try {
    const attributes = { 'towline.events': events.map(({ id }) => id) };
    await traced({ name: 'signal events', flowId, attributes }, () => callWithin(client, DEADLINE_MS, send));
    return 'delivered';
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return 'not-found';
    throw error;
  }
}
