import type { Outcome } from '../../src/flows/messages.js';
import type { EndReason } from '../../src/flows/vocabulary.js';

/** Thrown by a step to end its flow; never leaves the workflow. Not an error of the code. */
export class FlowEnd extends Error {
  override readonly name = 'FlowEnd';
  readonly outcome: Outcome;

  constructor(outcome: Outcome) {
    super(outcome.detail);
    this.outcome = outcome;
  }
}

/** Ends the flow where nothing was paid out: `failed`, `expired` or `cancelled`, with its reason and a sentence. */
export function endFlow(state: 'failed' | 'expired' | 'cancelled', reason: EndReason, detail: string): never {
  throw new FlowEnd({ state, reason, detail });
}
