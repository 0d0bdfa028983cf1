import type { CallbackFailure, Notification } from '../../flows/callback.js';
import { parseFlowId } from '../../flows/vocabulary.js';
import type { CallbackFacts, ListedCallbacks } from '../../temporal/callback-handle.js';
import type { CallbackJson, CallbacksJson, DeliveredJson, ListedCallbacksJson } from '../../towline/gateway-json.js';
import type { FlowAddress } from '../http/flow-path.js';

export function callbacksJson(
  { kind, reference, flowId }: FlowAddress,
  facts: CallbackFacts | undefined,
): CallbacksJson {
  const state = facts === undefined ? 'none' : 'unknown';
  const nothing = { current: null, since: null, attempts: 0, lastFailure: null, nextAttemptAt: null, delivered: null };
  if (facts?.report === undefined) return { kind, reference, flowId, state, to: null, ...nothing };
  const { report, attempts, lastFailure, nextAttemptAt } = facts;
  const { current, delivered } = report;
  const failure = report.failure ?? lastFailure;
  return {
    kind,
    reference,
    flowId,
    state: report.state,
    to: originOf(report.order.url),
    current: current === null ? null : shown(current),
    since: report.since,
    attempts: report.failure?.attempt ?? attempts,
    lastFailure: failure === undefined ? null : shownFailure(failure),
    nextAttemptAt: nextAttemptAt?.toISOString() ?? null,
    delivered: delivered === null ? null : { ...shown(delivered.notification), ...deliveredAs(delivered) },
  };
}

export function listedJson({ flowId, startedAt }: ListedCallbacks): ListedCallbacksJson {
  const { kind, reference } = parseFlowId(flowId) ?? { kind: null, reference: flowId };
  return { kind, reference, flowId, startedAt: startedAt.toISOString() };
}

const shown = ({ id, change, skipped }: Notification): CallbackJson => ({
  id,
  timestamp: change.timestamp,
  flowState: change.state,
  stage: change.stage,
  skipped: skipped.length,
});

const shownFailure = ({ problem, httpStatus, at }: CallbackFailure) => ({ problem, httpStatus, at });

const deliveredAs = ({ at, httpStatus, attempts }: DeliveredJson): DeliveredJson => ({ at, httpStatus, attempts });

const originOf = (url: string): string | null => (URL.canParse(url) ? new URL(url).origin : null);
