import type { Outcome } from '../../src/protocol/messages.js';
import type { EndReason } from '../../src/protocol/vocabulary.js';
import type { Resolution } from './messages.js';

/** Thrown by a step to end its flow; never leaves the workflow. Not a programming error. */
export class FlowEnd extends Error {
  override readonly name = 'FlowEnd';
  readonly outcome: Outcome;

  constructor(outcome: Outcome) {
    super(outcome.detail);
    this.outcome = outcome;
  }
}

/** Ends the flow if nothing was paid out: `failed`, `expired` or `cancelled`, with its reason and a sentence. */
export function endFlow(state: 'failed' | 'expired' | 'cancelled', reason: EndReason, detail: string): never {
  throw new FlowEnd({ state, reason, detail });
}

/** Ends the flow by a person's decision on how it ended: `mark-completed`, `mark-refunded`, or else failed. */
export function endFromDecision(decision: Resolution): never {
  throw new FlowEnd(orderedEnd(decision));
}

function orderedEnd(decision: Resolution): Outcome {
  const by = `by ${decision.actor}: ${decision.note}`;
  if (decision.action === 'mark-completed') {
    return { state: 'completed', reason: null, detail: `Marked as completed ${by}` };
  }
  if (decision.action === 'mark-refunded') {
    return { state: 'refunded', reason: null, detail: `Marked as refunded ${by}` };
  }
  return { state: 'failed', reason: 'closed_by_person', detail: `Closed as failed ${by}` };
}
