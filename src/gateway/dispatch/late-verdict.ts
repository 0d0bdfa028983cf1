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
  if (agreeing === undefined)
    return { contradicts: false, detail: `Came after the flow had ended as ${ended}: ${said}.` };
  if (agreeing.includes(ended))
    return { contradicts: false, detail: `Agrees: the flow had ended as ${ended}, this says ${said}.` };
  const proof = trusted ? '' : ' Nobody has proven where it comes from.';
  return { contradicts: true, detail: `CONTRADICTS: the flow had ended as ${ended}, this says ${said}.${proof}` };
}
