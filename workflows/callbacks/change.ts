import type { FlowChange } from '../../src/flows/callback.js';
import type { FlowView } from '../../src/flows/messages.js';

/** What a caller is told: a list of what may be told, so that a new member of the view stays untold until it is here. */
export function toldOf(view: FlowView, timestamp: string): FlowChange {
  const { kind, reference, flowId, state, stage, serviceReference, outcome, parked } = view;
  return {
    timestamp,
    kind,
    reference,
    flowId,
    state,
    stage,
    serviceReference,
    // Its detail may quote a person or the service.
    outcome: outcome === null ? null : { state: outcome.state, reason: outcome.reason },
    parked: parked === null ? null : { reason: parked.reason, since: parked.since, actions: parked.actions },
  };
}

export function isNews(told: FlowChange, view: FlowView): boolean {
  return JSON.stringify(toldOf(view, told.timestamp)) !== JSON.stringify(told);
}

/** The present time, or a millisecond past the one before: no two changes of a flow have the same. */
export function timeAfter(before: string, nowMs: number): string {
  return new Date(Math.max(nowMs, Date.parse(before) + 1)).toISOString();
}

/** The flow is over: nothing more will come. */
export const isLast = ({ outcome }: FlowChange): boolean => outcome !== null;
