import { type Client, type WorkflowExecutionStatusName, WorkflowNotFoundError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import {
  decodeArrayFromPayloads,
  decodeOptionalFailureToOptionalError,
} from '@temporalio/common/lib/internal-non-workflow/index.js';
import proto from '@temporalio/proto';
import type { FlowMoney, FlowReport, FlowView, FlowWithMoney } from '../api/flow.js';
import {
  FLOW_QUERY,
  FLOW_STATES,
  parseFlowId,
  STATE_ATTRIBUTE,
  type FlowState,
  workflowTypeOf,
} from '../protocol/vocabulary.js';
import { isPlaintext, isUndecodable } from '../protocol/plaintext-marker.js';
import { callWithin } from './call-within.js';
import { type Asker, type AskWorker, limitQuestions, TooManyQuestionsError, TOWLINE } from './questions.js';

/** What the server knows about a flow without asking a worker. */
export interface FlowFacts {
  readonly flowId: string;
  /** The workflow type. Another client may have started any under this id. */
  readonly type: string;
  readonly money: FlowMoney;
  readonly runId: string;
  readonly status: WorkflowExecutionStatusName;
  readonly isOpen: boolean;
  readonly state: FlowState;
  readonly startedAt: Date;
  readonly closedAt: Date | undefined;
  readonly fingerprint: string | undefined;
  /** Of the entry in the audit log of the start that Temporal took. Undefined: another client's. */
  readonly startId: string | undefined;
  /** A workflow task waits for a worker or is with one: the last signal may not have been seen yet. */
  readonly hasPendingTask: boolean;
}

export interface FlowReader {
  /** Undefined if there is no such flow (any more). */
  facts(flowId: string): Promise<FlowFacts | undefined>;
  /** The flow's own report: its result if it closed, else its worker's answer; undefined if none answers in time. */
  report(flowId: string): Promise<FlowReport | undefined>;
  /** The same, only from a worker: for a flow that is known to be open. @throws TooManyQuestionsError */
  reportOfOpen(flowId: string, asker: Asker): Promise<FlowReport | undefined>;
  /**
   * The flow as JSON, from its worker or, if none answers, from what the server knows.
   * @throws TooManyQuestionsError to an order: who orders must know what the flow waits for
   */
  show(flowId: string, asker: Asker): Promise<FlowWithMoney | undefined>;
}

const FACTS_WITHIN_MS = 5_000;
const CLOSING_WITHIN_MS = 3_000;
const REPORT_WITHIN_MS = 3_000;

export function createFlowReader(
  client: Client,
  options: { readonly reportWithinMs?: number; readonly askWorker?: AskWorker } = {},
): FlowReader {
  const within = <T>(ms: number, ask: () => Promise<T>) => callWithin(client, ms, ask);
  const askWorker = options.askWorker ?? limitQuestions();

  async function reportOf({ flowId, isOpen }: FlowFacts, asker: Asker): Promise<FlowReport | undefined> {
    const said = isOpen ? undefined : await within(CLOSING_WITHIN_MS, () => closingReport(client, flowId));
    return said ?? reader.reportOfOpen(flowId, asker);
  }

  const reader: FlowReader = {
    async facts(flowId) {
      try {
        const found = await within(FACTS_WITHIN_MS, () => client.workflow.getHandle(flowId).describe());
        const status = found.status.name;
        const fingerprint = found.memo?.['fingerprint'];
        const startId = found.memo?.['start'];
        return {
          flowId,
          type: found.type,
          money: moneyIn(found.memo),
          runId: found.runId,
          status,
          isOpen: isOpen(status),
          state: stateOf(status, found.searchAttributes[STATE_ATTRIBUTE]?.[0]),
          startedAt: found.startTime,
          closedAt: found.closeTime,
          fingerprint: typeof fingerprint === 'string' ? fingerprint : undefined,
          startId: typeof startId === 'string' ? startId : undefined,
          hasPendingTask: Boolean(found.raw.pendingWorkflowTask),
        };
      } catch (error) {
        if (error instanceof WorkflowNotFoundError) return undefined;
        throw error;
      }
    },

    async report(flowId) {
      try {
        const facts = await reader.facts(flowId);
        return facts === undefined ? undefined : await reportOf(facts, TOWLINE);
      } catch {
        // If Temporal does not answer, no worker is asked either.
        return undefined;
      }
    },

    async reportOfOpen(flowId, asker) {
      const withinMs = options.reportWithinMs ?? REPORT_WITHIN_MS;
      const ask = () => client.workflow.getHandle(flowId).query<FlowReport>(FLOW_QUERY);
      // No worker answers, or one cannot replay this flow: the caller continues with what is known.
      return askWorker(asker, withinMs, () => within(withinMs, ask));
    },

    async show(flowId, asker) {
      if (parseFlowId(flowId) === undefined) return undefined;
      const facts = await reader.facts(flowId);
      if (facts === undefined) return undefined;
      try {
        return viewOf(facts, (await reportOf(facts, asker))?.view);
      } catch (error) {
        const isFull = error instanceof TooManyQuestionsError;
        if (isFull && asker.isOrder === true) throw error;
        return viewOf(facts, undefined, isFull ? error.message : undefined);
      }
    },
  };
  return reader;
}

/**
 * A flow that was terminated in the UI could not report that itself: it is parked, for a person.
 * @param why there is no report. @default that no worker answered
 */
export function viewOf(facts: FlowFacts, reported: FlowView | undefined, why?: string): FlowWithMoney {
  const view = { ...(reported ?? viewWithoutWorker(facts, why)), ...facts.money };
  if (facts.status !== 'TERMINATED' && facts.status !== 'TIMED_OUT') return view;
  const since = (facts.closedAt ?? facts.startedAt).toISOString();
  const evidence = { stage: view.stage, note: 'The flow was terminated and did not end by itself.' };
  return {
    ...view,
    state: 'parked',
    updatedAt: since,
    outcome: null,
    parked: { reason: 'terminated', since, actions: ['resume'], evidence },
  };
}

export function moneyIn(memo: { readonly amount?: unknown; readonly currency?: unknown } | undefined): FlowMoney {
  const { amount, currency } = memo ?? {};
  return {
    amount: typeof amount === 'string' ? amount : null,
    currency: typeof currency === 'string' ? currency : null,
  };
}

/** Why no worker of ours runs it; undefined if it has the workflow type of its kind. */
export function foreignType({ flowId, type }: Pick<FlowFacts, 'flowId' | 'type'>): string | undefined {
  const kind = parseFlowId(flowId)?.kind;
  if (kind === undefined || type === workflowTypeOf(kind)) return undefined;
  return `it was started as the workflow type "${type}" and not as "${workflowTypeOf(kind)}", so no worker runs it`;
}

function isOpen(status: WorkflowExecutionStatusName): boolean {
  return status === 'RUNNING' || status === 'PAUSED' || status === 'CONTINUED_AS_NEW';
}

/** The attribute is set while a flow is parked, and when it ends other than completed, which its status shows. */
export function stateOf(status: WorkflowExecutionStatusName, attribute: unknown): FlowState {
  if (status === 'TERMINATED' || status === 'TIMED_OUT') return 'parked';
  const said = FLOW_STATES.find((state) => state === attribute);
  if (isOpen(status)) return said === 'parked' ? 'parked' : 'running';
  if (said !== undefined && said !== 'parked' && said !== 'running') return said;
  if (status === 'COMPLETED') return 'completed';
  return status === 'CANCELLED' ? 'cancelled' : 'failed';
}

const { HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT } = proto.temporal.api.enums.v1.HistoryEventFilterType;

/**
 * A closed flow's last report, from its last event: no worker has to replay it for that. Undefined if it closed without
 * one (terminated, cancelled) or if it cannot be read here. Do not use it for an open flow: the server answers when the
 * flow closes, or when the time is up.
 *
 * @throws ServiceError if Temporal does not answer, or knows no such flow
 */
async function closingReport(client: Client, flowId: string): Promise<FlowReport | undefined> {
  const { history } = await client.workflowService.getWorkflowExecutionHistory({
    namespace: client.options.namespace,
    execution: { workflowId: flowId },
    historyEventFilterType: HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT,
    skipArchival: true,
  });
  const last = history?.events?.at(-1);
  return last == null ? undefined : wordsOf(client, last, flowId).catch(() => undefined);
}

async function wordsOf(
  client: Client,
  last: proto.temporal.api.history.v1.IHistoryEvent,
  workflowId: string,
): Promise<FlowReport | undefined> {
  const converter = client.options.loadedDataConverter;
  // What was sealed for another flow is no report of this one.
  const context = { type: 'workflow', namespace: client.options.namespace, workflowId } as const;
  const completed = last.workflowExecutionCompletedEventAttributes?.result?.payloads;
  if (completed) return reportIn((await decodeArrayFromPayloads(converter, completed, context))[0]);
  const failure = last.workflowExecutionFailedEventAttributes?.failure ?? undefined;
  const error = await decodeOptionalFailureToOptionalError(converter, failure, context);
  return error instanceof ApplicationFailure ? reportIn(error.details?.[0]) : undefined;
}

/** Only what our workers encrypted counts as a flow's report. */
function reportIn(value: unknown): FlowReport | undefined {
  if (typeof value !== 'object' || value === null || isPlaintext(value) || isUndecodable(value)) return undefined;
  return 'view' in value && 'events' in value ? (value as FlowReport) : undefined;
}

/** A flow as JSON from what the server knows: state and times, without stage, timeline and reasons. */
function viewWithoutWorker(facts: FlowFacts, why = 'no worker answered in time'): FlowView {
  const { kind, reference } = parseFlowId(facts.flowId) ?? {
    kind: 'bridge-transfer' as const,
    reference: facts.flowId,
  };
  const hasEnded = !facts.isOpen;
  return {
    kind,
    reference,
    flowId: facts.flowId,
    state: facts.state,
    stage: `not reported: ${foreignType(facts) ?? why}`,
    serviceReference: null,
    startedAt: facts.startedAt.toISOString(),
    updatedAt: (facts.closedAt ?? facts.startedAt).toISOString(),
    deadlineAt: null,
    terms: null,
    parked: null,
    outcome: hasEnded ? { state: facts.state, reason: null, detail: `The flow ended as ${facts.state}.` } : null,
    timeline: [],
  };
}

/** A flow that was started a moment ago, before any worker took it. */
export function viewOfNewFlow(
  flowId: string,
  startedAt: Date,
  money?: { readonly amount: string; readonly currency: string },
): FlowWithMoney {
  const { kind, reference } = parseFlowId(flowId) ?? { kind: 'bridge-transfer' as const, reference: flowId };
  const at = startedAt.toISOString();
  return {
    kind,
    reference,
    flowId,
    state: 'running',
    stage: 'starting',
    serviceReference: null,
    startedAt: at,
    updatedAt: at,
    deadlineAt: null,
    terms: null,
    parked: null,
    outcome: null,
    timeline: [],
    ...moneyIn(money),
  };
}
