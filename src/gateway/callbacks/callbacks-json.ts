import type { CallbackFailure, CallbackState, Notification } from '../../flows/callback.js';
import { parseFlowId, type FlowKind, type FlowState } from '../../flows/vocabulary.js';
import type { CallbackFacts, ListedCallbacks } from '../../temporal/callback-handle.js';
import type { FlowAddress } from '../http/flow-path.js';

/** How far the callbacks of one flow got. Of the URL only its origin is shown: its path may hold a capability. */
export interface CallbacksJson {
  readonly kind: FlowKind;
  readonly reference: string;
  readonly flowId: string;
  /** `none`: nothing was ever to be told. `unknown`: no worker answers. */
  readonly state: CallbackState | 'none' | 'unknown';
  readonly to: string | null;
  /** What is being sent, or could not be delivered. */
  readonly current: CallbackJson | null;
  readonly since: string | null;
  readonly attempts: number;
  readonly lastFailure: Omit<CallbackFailure, 'attempt'> | null;
  readonly nextAttemptAt: string | null;
  readonly delivered: (CallbackJson & DeliveredJson) | null;
}

interface CallbackJson {
  readonly id: string;
  readonly timestamp: string;
  readonly flowState: FlowState;
  readonly stage: string;
  readonly skipped: number;
}

interface DeliveredJson {
  readonly at: string;
  readonly httpStatus: number;
  readonly attempts: number;
}

export interface ListedCallbacksJson {
  readonly kind: FlowKind | null;
  readonly reference: string;
  readonly flowId: string;
  readonly startedAt: string;
}

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
