import type { Outcome } from '../../src/flows/messages.js';
import { FlowEnd } from './flow-end.js';
import type { Resolution } from './park.js';

/** Ends the flow by a person's word on how it ended: `mark-completed`, `mark-refunded`, or else failed. */
export function endAsOrdered(decision: Resolution | 'decided'): never {
  throw new FlowEnd(orderedEnd(decision));
}

export function orderedEnd(decision: Resolution | 'decided'): Outcome {
  if (decision === 'decided') throw new TypeError('nothing was ordered');
  const by = `by ${decision.actor}: ${decision.note}`;
  if (decision.action === 'mark-completed') {
    return { state: 'completed', reason: null, detail: `Marked as completed ${by}` };
  }
  if (decision.action === 'mark-refunded') {
    return { state: 'refunded', reason: null, detail: `Marked as refunded ${by}` };
  }
  return { state: 'failed', reason: 'closed_by_person', detail: `Closed as failed ${by}` };
}
