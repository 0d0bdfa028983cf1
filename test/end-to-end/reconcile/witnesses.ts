/** What the witnesses say, as plain data: a test can plant a lie in it and see the reconciler turn red. */
export interface Witnesses {
  /** Flow ids that the gateway has told a caller of. */
  readonly started: readonly string[];
  /** What Temporal says. */
  readonly flows: readonly FlowFact[];
  /** What the service's books say. */
  readonly executions: readonly Execution[];
  readonly records: readonly ServiceRecord[];
  readonly entries: readonly LedgerEntry[];
  /** By account and currency. */
  readonly balances: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** What lies in our store. */
  readonly claims: readonly ClaimFact[];
  readonly orders: readonly (Execution & { readonly action: string })[];
  readonly inbox: readonly InboxFact[];
  /** Webhooks that were answered 2xx, and those whose sender never saw an answer. */
  readonly answered: number;
  readonly unanswered: number;
}

export interface FlowFact {
  readonly flowId: string;
  readonly kind: string;
  readonly reference: string;
  /** `running parked completed refunded failed expired cancelled`, or what contradicts itself, in words. */
  readonly state: string;
  /** Type of the failure that it closed with. */
  readonly reason: string | null;
}

export interface Execution {
  readonly operation: string;
  readonly reference: string;
}

export interface ServiceRecord extends Execution {
  readonly status: string;
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
  readonly flowId: string | null;
  readonly status: string | null;
  readonly state: string;
  readonly contentHash: string;
  readonly repeats: number;
}

export interface Violation {
  readonly invariant: string;
  readonly what: string;
}
