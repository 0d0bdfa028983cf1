import type { Client } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import {
  decodeArrayFromPayloads,
  decodeOptionalFailureToOptionalError,
} from '@temporalio/common/lib/internal-non-workflow/index.js';
import proto from '@temporalio/proto';
import type { FlowReport } from '../flows/messages.js';
import { isPlaintext, isUndecodable } from './plaintext-marker.js';

const { HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT } = proto.temporal.api.enums.v1.HistoryEventFilterType;

/**
 * What a closed flow said when it closed, from its last event: no worker has to replay it for that. Undefined where it
 * closed without a word (terminated, cancelled) or in words that cannot be read here. Not to be asked of an open flow: the
 * server answers that when the flow closes, or when the time is up.
 *
 * @throws ServiceError where Temporal does not answer, or knows no such flow
 */
export async function closingReport(client: Client, flowId: string): Promise<FlowReport | undefined> {
  const { history } = await client.workflowService.getWorkflowExecutionHistory({
    namespace: client.options.namespace,
    execution: { workflowId: flowId },
    historyEventFilterType: HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT,
    skipArchival: true,
  });
  const last = history?.events?.at(-1);
  return last == null ? undefined : wordsOf(client, last).catch(() => undefined);
}

async function wordsOf(
  client: Client,
  last: proto.temporal.api.history.v1.IHistoryEvent,
): Promise<FlowReport | undefined> {
  const converter = client.options.loadedDataConverter;
  const completed = last.workflowExecutionCompletedEventAttributes?.result?.payloads;
  if (completed) return reportIn((await decodeArrayFromPayloads(converter, completed))[0]);
  const failure = last.workflowExecutionFailedEventAttributes?.failure ?? undefined;
  const error = await decodeOptionalFailureToOptionalError(converter, failure);
  return error instanceof ApplicationFailure ? reportIn(error.details?.[0]) : undefined;
}

/** Only what one of our workers encrypted is a flow's word. */
function reportIn(value: unknown): FlowReport | undefined {
  if (typeof value !== 'object' || value === null || isPlaintext(value) || isUndecodable(value)) return undefined;
  return 'view' in value && 'events' in value ? (value as FlowReport) : undefined;
}
