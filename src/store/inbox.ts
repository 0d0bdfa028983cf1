import type { InboxRow, ReceivedEvent, Proof, InboxState } from '../protocol/events.js';

/** The events of one flow that are to go out as one signal: none where one is `unreadable`, which later ones may not pass. */
export interface InboxBatch {
  readonly flowId: string;
  readonly rows: readonly InboxRow[];
  /** Of what it has waiting, some is proven. */
  readonly hasProven: boolean;
  /** How often this flow was tried and put off since its last delivery. */
  readonly deferrals: number;
}

export interface Receipt {
  readonly kind: 'stored' | 'duplicate';
  readonly id: string;
  /** Present where the flow is leased to who gave the event. */
  readonly leased?: InboxBatch;
}

export interface EventVerdict {
  readonly id: string;
  readonly state: InboxState;
  readonly detail?: string;
}

interface InboxQuery {
  readonly flowId?: string;
  readonly state?: InboxState;
  /** Only events that are trusted (true) or not (false). */
  readonly trusted?: boolean;
  readonly limit?: number;
  /** Their bodies are opened, which takes a while where they are many. @default true */
  readonly bodies?: boolean;
  /** Continue after this row id (rows are listed newest first). */
  readonly after?: string;
}

/** Of the rows that nothing proves. */
export interface UnprovenInbox {
  /** What they take on the disk, about. */
  unprovenBytes(): Promise<number>;
  /**
   * Deletes the oldest of them that were received before that moment, at most so many; those that are on their way to a
   * flow (`waiting`, `delivered`) aside. Returns how many.
   *
   * @param order.ofNoFlow only those that are `unmatched`
   */
  dropUnproven(order: { readonly before: Date; readonly atMost: number; readonly ofNoFlow: boolean }): Promise<number>;
}

/** Of the account webhooks whose flow the claims will identify. */
export interface MatchingInbox {
  /** Those that are still to be matched, oldest first, at most so many. @param after those that came after this row alone */
  toMatch(most: number, after?: string): Promise<readonly InboxRow[]>;
  /** It goes to this flow now, or is `unmatched` where there is none. A row that was matched before stays as it is. */
  match(id: string, labels: Pick<ReceivedEvent, 'flowId' | 'reference' | 'status'>): Promise<void>;
}

export interface InboxStore extends UnprovenInbox, MatchingInbox {
  /**
   * Durable when it resolves. The same content under the same (source, flow, trusted or not) is a duplicate: counted on
   * the first row (`repeats`), whose id is returned. Calls that come together share one transaction.
   *
   * @param leaseMs where the flow has nothing else waiting, it is leased to this caller for so long, with this event
   * @throws StoreUnavailableError where the row could not be made durable
   * @throws StoreRequestError where another event has this id
   */
  receive(event: ReceivedEvent, leaseMs?: number): Promise<Receipt>;

  /**
   * Flows that have `waiting` rows which are due, each with its oldest rows (at most `perFlow`), leased to this caller for
   * `leaseMs`, so that two gateways do not deliver the same rows at once. Up to `proven` flows that have a proven event
   * waiting, and up to `unproven` others: events forged for many flows delay no proven one.
   */
  lease(options: {
    proven: number;
    unproven: number;
    perFlow: number;
    leaseMs: number;
  }): Promise<readonly InboxBatch[]>;

  /** The oldest rows (at most `most`) that this flow has `waiting`: for who has leased it. */
  waitingOf(flowId: string, most: number): Promise<readonly InboxRow[]>;

  /** How many untrusted events of this flow are past `waiting`, counted up to `most`. */
  untrustedTaken(flowId: string, most: number): Promise<number>;

  /** Whether its flow was shown an untrusted event with one of these statuses. */
  hasShownUntrusted(flowId: string, statuses: readonly string[]): Promise<boolean>;

  /** `waiting → delivered`; the lease ends. What else the flow has waiting is due after `restMs`. @param restMs default 0 */
  markDelivered(flowId: string, ids: readonly string[], restMs?: number): Promise<void>;

  /** The flow cannot be reached now: its waiting rows are due again after `delayMs`; the lease ends. */
  defer(flowId: string, delayMs: number): Promise<void>;

  /** The flow exists now: its waiting rows are due at once, and with them those that were `unmatched` for want of it. */
  releaseWaiting(flowId: string): Promise<void>;

  /** Final words on rows; a row that was settled before keeps its first settlement, except `unverified`, which may rise. */
  settle(fates: readonly EventVerdict[]): Promise<void>;

  /** Flows with `delivered` rows that are not settled yet, longest waiting first, delivered at least `ageMs` ago. */
  unsettledFlows(options: {
    limit: number;
    ageMs: number;
  }): Promise<readonly { flowId: string; ids: readonly string[] }[]>;

  /**
   * Back to `waiting`, whatever its state: delivered anew. A person may vouch for it (`proof: 'person'`), and say which
   * flow a row without one is of. A row without a flow, or whose body was purged, stays as it is.
   *
   * @param order.flowId for a row without a flow alone
   * @returns the row as it is now
   */
  replay(
    id: string,
    order?: { readonly proof?: Proof | undefined; readonly flowId?: string | undefined },
  ): Promise<InboxRow | undefined>;

  get(id: string): Promise<InboxRow | undefined>;
  list(query: InboxQuery): Promise<readonly InboxRow[]>;
  /** Rows per state, for invariants and metrics; `repeats` sums the duplicates, `dropped` counts the rows that were deleted. */
  counts(): Promise<{
    readonly byState: Readonly<Record<InboxState, number>>;
    readonly repeats: number;
    readonly dropped: number;
  }>;

  /**
   * Clears the bodies of rows received before that moment, those still `waiting` or `delivered` aside; their hashes
   * stay. Returns how many.
   */
  purgeBodies(before: Date): Promise<number>;
}
