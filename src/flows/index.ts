import type { FlowKind } from '../protocol/vocabulary.js';
import type { AnyFlow, FlowDefinition } from './flow.js';
import * as kinds from './kinds.js';

/** Every flow kind: one that has no line in `kinds.ts` does not compile. */
export const flows = kinds satisfies Readonly<Record<FlowKind, AnyFlow>>;

/** The definition of a kind, with its input's type hidden: parse with `input` first. */
export function flowOf(kind: FlowKind): FlowDefinition {
  const definition: AnyFlow = flows[kind];
  return definition;
}
