import type { FlowView } from '../flows/messages.js';
import { parseFlowId } from '../flows/vocabulary.js';
import type { FlowFacts } from './flow-handle.js';

/** A flow as JSON from what the server knows: state and times, without stage, timeline and reasons. */
export function viewWithoutWorker(facts: FlowFacts): FlowView {
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
    stage: 'not reported: no worker answered in time',
    serviceReference: null,
    startedAt: facts.startedAt.toISOString(),
    updatedAt: (facts.closedAt ?? facts.startedAt).toISOString(),
    deadlineAt: null,
    parked: null,
    outcome: hasEnded ? { state: facts.state, reason: null, detail: `The flow ended as ${facts.state}.` } : null,
    timeline: [],
  };
}

/** A flow that was started a moment ago, before any worker took it. */
export function viewOfNewFlow(flowId: string, startedAt: Date): FlowView {
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
    parked: null,
    outcome: null,
    timeline: [],
  };
}
