/** The outcome of an event. Words of DESIGN.md. */
export const INBOX_STATES = [
  'waiting',
  'delivered',
  'applied',
  'duplicate',
  'unverified',
  'late',
  'unmatched',
  'conflicting',
  'quarantined',
] as const;
export type InboxState = (typeof INBOX_STATES)[number];

/** The door that the event came in by. */
export type InboxSource = 'callback' | 'settlement' | 'webhook';

/** Why an event is trusted; null while it is not. */
export type Proof = 'signature' | 'capability' | 'network' | 'corroborated' | 'person';

export interface ReceivedEvent {
  readonly id: string;
  readonly source: InboxSource;
  /** Null where the body names no flow that we can identify: it is kept as `unmatched`. */
  readonly flowId: string | null;
  readonly reference: string | null;
  /** The status word of the body, as it came; null where there is none. */
  readonly status: string | null;
  readonly proof: Proof | null;
  /** Keyed hash of what the body says: equal content is one event, whatever its delivery id. */
  readonly contentHash: string;
  /** The same by the keys that the store had before: a repetition of an event from before a rotation is known by them. */
  readonly earlierHashes?: readonly string[];
  /** The parsed body. Sealed on disk; undefined once it was purged. */
  readonly body: unknown;
  /** It names no flow yet: the claims will identify the one that it is about. Until then it is `waiting`. */
  readonly toMatch?: boolean;
}

export interface InboxRow extends Omit<ReceivedEvent, 'earlierHashes' | 'toMatch'> {
  readonly state: InboxState;
  /** Why it is in this state, in words for a person. */
  readonly detail: string | null;
  readonly receivedAt: string;
  readonly deliveredAt: string | null;
  readonly settledAt: string | null;
  /** How often the same content came again. */
  readonly repeats: number;
  /** Why body and detail do not open (a key is gone, a seal is broken); then they are left out. Absent where they do. */
  readonly unreadable?: string;
  /** What is `unreadable` is damaged, or not ours: no key will ever open it. */
  readonly isBroken?: true;
}
