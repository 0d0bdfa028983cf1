import type { StatusMap } from '../../src/protocol/statuses.js';
import type { FlowKind } from '../../src/protocol/vocabulary.js';

/** A kind of flow as data. */
export interface Plan {
  readonly kind: FlowKind;
  /** For people: "the crypto send". */
  readonly noun: string;
  readonly words: StatusMap;
  /** How long events are awaited before the first lookup of a status, ms before scaling. */
  readonly firstLookMs: number;
  /** How long a failure that only events report waits for an event against it, ms before scaling. */
  readonly graceMs: number;
  /** In their order: the next one is due once nothing of the one before can still leave. */
  readonly requests: readonly RequestPlan[];
}

export interface RequestPlan {
  /** Name of the submission in the kind's definition. */
  readonly name: string;
  readonly operation: string;
  /** Whether the interface can show what became of it. */
  readonly lookUp: 'own' | 'none';
}
