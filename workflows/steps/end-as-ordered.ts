import { endFlow, FlowEnd } from './flow-end.js';
import type { Resolution } from './park.js';

/** Ends the flow by a person's word on how it ended: `mark-completed`, `mark-refunded`, or else failed. */
export function endAsOrdered(decision: Resolution | 'decided'): never {
  if (decision === 'decided') throw new TypeError('nothing was ordered');
  const by = `by ${decision.actor}: ${decision.note}`;
  if (decision.action === 'mark-completed') {
    throw new FlowEnd({ state: 'completed', reason: null, detail: `Marked as completed ${by}` });
  }
  if (decision.action === 'mark-refunded') {
    throw new FlowEnd({ state: 'refunded', reason: null, detail: `Marked as refunded ${by}` });
  }
  return endFlow('failed', 'closed_by_person', `Closed as failed ${by}`);
}
