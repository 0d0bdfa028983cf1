import type { z } from 'zod';
import type { FlowKind } from './vocabulary.js';

/** What an event says, read tolerantly from a webhook's body. */
export interface EventReading {
  /** The caller's reference in the body, where it has one. */
  readonly reference: string | null;
  readonly status: string | null;
  readonly facts: Readonly<Record<string, string>>;
}

/** What the gateway and the activities need to know of one flow kind. One file per kind; the table is `flows`. */
export interface FlowDefinition<Input = unknown> {
  readonly kind: FlowKind;
  /** From a caller's JSON to the normalised input (amounts as decimal strings). Idempotent on its own output. */
  readonly input: z.ZodType<Input>;
  referenceOf(input: Input): string;
  /** What the caller decided, for the fingerprint: without callback URLs, rate ids, cards and time settings. */
  decidedBy(input: Input): unknown;
  /** One line for the Temporal UI: kind, amount, currency; no personal data. */
  summaryOf(input: Input): string;
  /** Undefined where the body is not an object that could be an event of this kind. */
  readEvent(body: unknown): EventReading | undefined;
}

/** Keeps the input's type within a definition and hides it in the table. */
export function defineFlow<Input>(definition: FlowDefinition<Input>): FlowDefinition<Input> {
  return definition;
}
