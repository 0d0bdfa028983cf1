import type { Call, Expectation } from '../../harness/journal.js';
import type { WireRequest } from '../../harness/wire-log.js';

/** The witnesses' facts, as plain data: a test can plant a lie in it and see the reconciler turn red. */
export interface Witnesses {
  /** The driver's journal: its requests, and the states in which it expects flows to rest. */
  readonly calls: readonly Call[];
  readonly expectations: readonly Expectation[];
  /** What the URLs of all gateways begin with. */
  readonly gatewayUrl: string;
  /** Only the driver drives it: then each execution, and each flow that is parked, must be in its journal. */
  readonly drivenAlone: boolean;
  /** What went to the service over the wire; undefined if nothing counts there. */
  readonly wire: readonly WireRequest[] | undefined;
  /** Temporal's facts. */
  readonly flows: readonly FlowFact[];
  /** The service's books. */
  readonly executions: readonly ExecutionFact[];
  readonly records: readonly ServiceRecord[];
  readonly entries: readonly LedgerEntry[];
  /** By account and currency. */
  readonly balances: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Our store's rows. */
  readonly claims: readonly ClaimFact[];
  readonly orders: readonly (Execution & { readonly action: string })[];
  readonly inbox: readonly InboxFact[];
  /** Posts of the service and its forgers to our gateways, except those that were lost in transit. */
  readonly deliveries: readonly DeliveryFact[];
}

export interface FlowFact {
  readonly flowId: string;
  readonly kind: string;
  readonly reference: string;
  /** `running parked completed refunded failed expired cancelled`, or what contradicts itself, in words. */
  readonly state: string;
  /** Type of the failure that it closed with. */
  readonly reason: string | null;
  /** Of one that still ran when patience ended: how long its deadline, by its own view, had passed by then, ms. */
  readonly overdueMs?: number;
}

export interface Execution {
  readonly operation: string;
  readonly reference: string;
}

export interface ExecutionFact extends Execution {
  /** When the service executed it, ISO 8601. */
  readonly at: string;
  readonly amount: string;
  readonly currency: string;
}

export interface ServiceRecord extends Execution {
  readonly status: string;
  /** The request that was executed, as the service keeps it. */
  readonly body: unknown;
  /** For a bridge deposit: the refund address that the service gave. */
  readonly refundAddress: string | null;
}

export interface DeliveryFact {
  /** The path at the gateway. */
  readonly path: string;
  readonly body: string;
  readonly reference: string;
  readonly status: string;
  /** As the service sent it; false for what an adversary made of it. */
  readonly isGenuine: boolean;
  /** HTTP status of each attempt; null without an answer. */
  readonly answers: readonly (number | null)[];
}

export interface LedgerEntry {
  readonly kind: string;
  readonly reference: string;
  readonly postings: readonly { readonly account: string; readonly currency: string; readonly amount: string }[];
}

export interface ClaimFact extends Execution {
  readonly phase: string;
  readonly flowId: string;
}

export interface InboxFact {
  readonly id: string;
  readonly flowId: string | null;
  readonly status: string | null;
  readonly state: string;
  readonly source: string;
  readonly isTrusted: boolean;
  readonly repeats: number;
  /** Undefined if it is not kept any more. */
  readonly body: unknown;
}

export interface Violation {
  readonly invariant: string;
  readonly what: string;
}
