import type { Cause } from '../../src/protocol/causes.js';
import type { StatusMap } from '../../src/protocol/statuses.js';
import type { EndReason, FlowKind, ParkReason, TimelineCode } from '../../src/protocol/vocabulary.js';
import type { OrderRule } from './orders.js';
import type { Rule } from './rules.js';
import type { View } from './view.js';

/** A kind of flow as data. */
export interface Plan {
  readonly kind: FlowKind;
  /** For people: "the crypto send". */
  readonly noun: string;
  readonly words: StatusMap;
  /** How long events are awaited before the first lookup of a status, ms before scaling. */
  readonly firstLookMs: number;
  /** Between two lookups of a status that is known, ms before scaling. @default the cadence of polling */
  readonly lookEveryMs?: number;
  /** How long a failure that only events report waits for an event against it, ms before scaling. */
  readonly graceMs: number;
  /** In their order: the next one is due once nothing of the one before can still leave. */
  readonly requests: readonly RequestPlan[];
  /** Stages with the statuses that prove them, first to last. @default the stage stays as it is */
  readonly stages?: readonly (readonly [stage: string, words: readonly string[]])[];
  /** Events only trigger a lookup, and contradict nothing: the service may decide otherwise. @default false */
  readonly isOnlyHinted?: true;
  /** Why it parks at its deadline. @default by what is claimed about the settlement */
  readonly overdueAs?: ParkReason;
  /** The sentences of its ends. @default those of a payment */
  readonly ends?: { readonly succeeded: string; readonly failed: readonly [reason: EndReason, detail: string] };
  /** Rules of this kind alone, before the general ones. */
  readonly rules?: readonly Rule[];
  /** Rules about orders of this kind alone, before the general ones. */
  readonly orderRules?: readonly OrderRule[];
  /** Why no refund invoice is taken now; null: one is. @default the kind takes none */
  readonly whyNoInvoice?: (v: View) => Cause | null;
  /** What a person is shown about its own reasons to park. */
  readonly evidenceOf?: (v: View, reason: ParkReason) => Readonly<Record<string, unknown>> | undefined;
  /** What the timeline says besides, once the service has answered. */
  readonly noteOfAnswer?: (
    input: unknown,
    answer: unknown,
  ) => readonly [code: TimelineCode, detail: string] | undefined;
}

export interface RequestPlan {
  /** Name of the submission in the kind's definition. */
  readonly name: string;
  readonly operation: string;
  /** Whether the interface can show what became of it. */
  readonly lookUp: 'own' | 'none';
  /** It was made elsewhere, and the flow only follows it, which moves nothing: says what it waits for. */
  readonly watching?: string;
  /**
   * The gateway that keeps what a send needs (a card) makes it, one attempt at a time, and nobody can order another one.
   * @default false: any worker makes it
   */
  readonly byGateway?: true;
}
