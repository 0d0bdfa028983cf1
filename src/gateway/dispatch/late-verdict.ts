import type { FlowState } from '../../flows/vocabulary.js';

/** What a late event says about the ending of its flow. */
export interface LateVerdict {
  readonly contradicts: boolean;
  /** For a person who looks at the event. */
  readonly detail: string;
}

/** Endings of a flow that a terminal status word can stand next to. Words that are not here say nothing final. */
const AGREES_WITH: Readonly<Record<string, readonly FlowState[]>> = {
  COMPLETED: ['completed'],
  // A failure comes before its refund.
  FAILED: ['failed', 'refunded', 'expired', 'cancelled'],
  REFUNDED: ['refunded', 'failed'],
};

export function lateVerdict(status: string | null, ended: FlowState, trusted: boolean): LateVerdict {
  const agreeing = status === null ? undefined : AGREES_WITH[status];
  const said = status ?? 'no status';
  const proof = trusted ? '' : ' Nobody has proven where it comes from.';
  // A flow that was terminated did not end by itself, and whoever did that may not know that money moved.
  if (ended === 'parked') {
    const moved = status === 'COMPLETED' || status === 'REFUNDED';
    return { contradicts: moved, detail: `The flow had been terminated; this says ${said}.${proof}` };
  }
  if (agreeing === undefined)
    return { contradicts: false, detail: `Came after the flow had ended as ${ended}: ${said}.` };
  if (agreeing.includes(ended))
    return { contradicts: false, detail: `Agrees: the flow had ended as ${ended}, this says ${said}.` };
  return { contradicts: true, detail: `CONTRADICTS: the flow had ended as ${ended}, this says ${said}.${proof}` };
}
