import type { InboxRow, ReceivedEvent, Proof, InboxState } from '../protocol/events.js';

/** The events of one flow for one signal: none if one is `unreadable`, because later ones must not overtake it. */
export interface InboxBatch {
  readonly flowId: string;
  readonly rows: readonly InboxRow[];
  /** Some of its waiting events are proven. */
  readonly hasProven: boolean;
  /** How often this flow was tried and put off since its last delivery. */
  readonly deferrals: number;
}

export interface Receipt {
  readonly kind: 'stored' | 'duplicate';
  readonly id: string;
  /** Present if the flow is leased to the caller. */
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
  /** Their bodies are decrypted, which takes a while for many. @default true */
  readonly bodies?: boolean;
  /** Continue after this row id (rows are listed newest first). */
  readonly after?: string;
}

/** States of which metrics count all rows: few are in them, or for long. */
export const COUNTED_STATES = ['waiting', 'delivered', 'unverified', 'conflicting', 'quarantined'] as const;

export type SettledState = Exclude<InboxState, 'waiting' | 'delivered'>;

export interface InboxCounts {
  /** Rows of all processes, by an index. */
  readonly byState: Readonly<Record<(typeof COUNTED_STATES)[number], number>>;
  /** Events that this process settled since it opened the store, by the state that it gave them. */
  readonly settled: Readonly<Record<SettledState, number>>;
  /** Events without proof that it deleted. */
  readonly dropped: number;
}

/** Size of a row in addition to its body: its columns, and its entries in each index. */
export const ROW_BYTES = 1_024;

/** Events without proof. */
export interface UnprovenInbox {
  /** The disk space that they use, approximately. */
  unprovenBytes(): Promise<number>;
  /**
   * Deletes the oldest of them that were received before that moment, at most this many, except those that are on their
   * way to a flow (`waiting`, `delivered`). Returns how many.
   *
   * @param order.ofNoFlow only those that are `unmatched`
   */
  dropUnproven(order: { readonly before: Date; readonly atMost: number; readonly ofNoFlow: boolean }): Promise<number>;
}

/** Account webhooks whose flow the claims will identify. */
export interface MatchingInbox {
  /**
   * Those that are still to be matched, either with or without a proof at their receipt, oldest first, at most this many.
   *
   * @param order.after only those that came after this row
   */
  toMatch(order: {
    readonly proven: boolean;
    readonly most: number;
    readonly after?: string | undefined;
  }): Promise<readonly InboxRow[]>;
  /** Whether a proven one under this reference is still to be matched: it may be about any flow of that reference. */
  hasToMatch(reference: string): Promise<boolean>;
  /**
   * Status words of proven ones under this reference that are settled without a flow, as `unmatched` or as
   * `quarantined`: they may be about any flow of it.
   */
  wordsOfNoFlow(reference: string): Promise<readonly string[]>;
  /**
   * Assigns it to this flow, or makes it `unmatched` if there is none. A row that was matched before stays unchanged.
   */
  match(id: string, labels: Pick<ReceivedEvent, 'flowId' | 'reference' | 'status'>): Promise<void>;
}

export interface InboxStore extends UnprovenInbox, MatchingInbox {
  /**
   * Durable when it resolves. The same content under the same (source, flow, trusted or not) is a duplicate: counted on
   * the first row (`repeats`), whose id is returned. Simultaneous calls share one transaction.
   *
   * @param leaseMs if the flow has nothing else waiting, it is leased to this caller for this time, with this event
   * @throws StoreUnavailableError if the row could not be made durable
   * @throws StoreRequestError if another event has this id
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

  /** The oldest rows (at most `most`) that this flow has `waiting`: for the holder of its lease. */
  waitingOf(flowId: string, most: number): Promise<readonly InboxRow[]>;

  /** How many untrusted events of this flow are past `waiting`, counted up to `most`. */
  untrustedTaken(flowId: string, most: number): Promise<number>;

  /** Whether its flow was shown an untrusted event with one of these statuses. */
  hasShownUntrusted(flowId: string, statuses: readonly string[]): Promise<boolean>;

  /** `waiting → delivered`; the lease ends. The flow's other waiting events are due at once. */
  markDelivered(flowId: string, ids: readonly string[]): Promise<void>;

  /** The flow cannot be reached now: its waiting rows are due again after `delayMs`; the lease ends. */
  defer(flowId: string, delayMs: number): Promise<void>;

  /**
   * `waiting → unmatched`, for the holder of the flow's lease, which goes on: the flow does not exist. Changes nothing if
   * it was started since it was leased (`releaseWaiting`): then its rows are due at once.
   */
  markUnmatched(flowId: string, ids: readonly string[], detail: string): Promise<void>;

  /** The flow exists now: its waiting rows are due at once, and with them those that were `unmatched` for want of it. */
  releaseWaiting(flowId: string): Promise<void>;

  /** Final states of rows; a settled row keeps its first settlement, except `unverified`, which may rise. */
  settle(verdicts: readonly EventVerdict[]): Promise<void>;

  /** Flows with `delivered` rows that are not settled yet, longest waiting first, delivered at least `ageMs` ago. */
  unsettledFlows(options: {
    limit: number;
    ageMs: number;
  }): Promise<readonly { flowId: string; ids: readonly string[] }[]>;

  /**
   * Back to `waiting`, whatever its state: it is delivered again. A person may vouch for it (`proof: 'person'`), and
   * assign a row without a flow to one. A row without a flow, or whose body was purged, stays unchanged.
   *
   * @param order.flowId only for a row without a flow
   * @returns the row after that
   */
  replay(
    id: string,
    order?: { readonly proof?: Proof | undefined; readonly flowId?: string | undefined },
  ): Promise<InboxRow | undefined>;

  get(id: string): Promise<InboxRow | undefined>;
  /** What these events say, and why they are trusted, by their ids: nothing is decrypted. */
  labelsOf(ids: readonly string[]): Promise<ReadonlyMap<string, Pick<InboxRow, 'status' | 'proof'>>>;
  list(query: InboxQuery): Promise<readonly InboxRow[]>;
  /**
   * Events, without their bodies, of the flows that this name started or was given: some may be another's since. Looks
   * through some thousands of all events, since a name that has few of them could make each page a search of the whole inbox.
   * `next` is `after` of the page that goes on, null at the end: a page may have less than its limit, and another one follow.
   */
  listOfName(
    name: string,
    query: Pick<InboxQuery, 'state' | 'after'> & { readonly limit: number },
  ): Promise<{ readonly rows: readonly InboxRow[]; readonly next: string | null }>;
  /** For metrics: its cost does not grow with the number of settled events. */
  counts(): Promise<InboxCounts>;

  /**
   * Clears the bodies of rows received before that moment, except those still `waiting` or `delivered`; their hashes
   * stay. Returns how many.
   */
  purgeBodies(before: Date): Promise<number>;
}
