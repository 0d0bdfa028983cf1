import { isRefundReference, refundReferenceOf, type FlowKind } from '../protocol/vocabulary.js';
import type { AnyFlow, FlowDefinition } from './flow.js';
import * as kinds from './kinds.js';

/** Every flow kind: one that has no line in `kinds.ts` does not compile. */
export const flows = kinds satisfies Readonly<Record<FlowKind, AnyFlow>>;

/**
 * Every money POST that a flow of the kind may make, and the reference under which the service knows it. None under the
 * reference of a refund: no caller may use it, and its claim is that of another flow.
 */
export function moneyOperationsOf({ kind, reference }: { readonly kind: FlowKind; readonly reference: string }) {
  if (isRefundReference(reference)) return [];
  if (kind === 'bridge-transfer') {
    return [
      { operation: 'createBridgeDeposit', reference },
      { operation: 'sendCrypto', reference: refundReferenceOf(reference) },
    ];
  }
  return Object.values(flowOf(kind).submissions ?? {}).map(({ operation }) => ({ operation, reference }));
}

/** The definition of a kind, with its input's type hidden: parse with `input` first. */
export function flowOf(kind: FlowKind): FlowDefinition {
  const definition: AnyFlow = flows[kind];
  return definition;
}
