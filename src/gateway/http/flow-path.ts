import { MAX_CALLER_REFERENCE_LENGTH, REFERENCE_PATTERN } from '../../contract/sending.js';
import { flowIdOf, FLOW_KINDS, type FlowKind } from '../../flows/vocabulary.js';

export interface FlowAddress {
  readonly kind: FlowKind;
  readonly reference: string;
  readonly flowId: string;
}

/** `{kind}/{reference}` of a path or a body, by the one grammar; undefined where it can be no flow of ours. */
export function flowAddress(kind: unknown, reference: unknown): FlowAddress | undefined {
  const known = FLOW_KINDS.find((candidate) => candidate === kind);
  if (known === undefined || !isReference(reference)) return undefined;
  return { kind: known, reference, flowId: flowIdOf(known, reference) };
}

export function isReference(text: unknown): text is string {
  return typeof text === 'string' && text.length <= MAX_CALLER_REFERENCE_LENGTH && REFERENCE_PATTERN.test(text);
}
