/** The outcome of an event. */
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

/**
 * Suffix for a row that a person vouched for: its flow may have taken the id before, as unverified, and takes it once.
 */
export const VOUCHED = '.vouched';

/**
 * Suffix for a row whose body cannot be decrypted: a flow gets its status, so that the row holds it back, and still takes
 * the event itself once that can be read.
 */
const UNOPENED = '.unopened';

/** The id of the event without its content. */
export const unopenedIdOf = (eventId: string): string => eventId + UNOPENED;

/** The id of the event itself. */
export const openedIdOf = (eventId: string): string =>
  eventId.endsWith(UNOPENED) ? eventId.slice(0, -UNOPENED.length) : eventId;

/**
 * Anyone may post untrusted events: a flow is shown, and keeps, only this many, so that forgeries cannot fill its
 * history.
 */
export const MAX_UNTRUSTED = 20;

/** The endpoint that received the event. */
export type InboxSource = 'callback' | 'settlement' | 'webhook';

/** Why an event is trusted; null while it is not. */
export type Proof = 'signature' | 'capability' | 'network' | 'corroborated' | 'person';

export interface ReceivedEvent {
  readonly id: string;
  readonly source: InboxSource;
  /** Null if the body names no flow that we can identify: the event is kept as `unmatched`. */
  readonly flowId: string | null;
  readonly reference: string | null;
  /** The raw status word of the body; null if there is none, and `UNREADABLE` if the body may say anything. */
  readonly status: string | null;
  readonly proof: Proof | null;
  /** Keyed hash of the body's content: equal content is one event, whatever its delivery id. */
  readonly contentHash: string;
  /** The same hash by the store's earlier keys: they identify a repetition of an event from before a rotation. */
  readonly earlierHashes?: readonly string[];
  /** The parsed body. Sealed on disk; undefined once it was purged. */
  readonly body: unknown;
  /** It names no flow yet: the claims will identify its flow. Until then it is `waiting`. */
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
  /** Why body and detail cannot be decrypted (missing key, broken seal); they are left out then. Absent if they can. */
  readonly unreadable?: string;
  /** The `unreadable` part is damaged, or not ours: no key will ever decrypt it. */
  readonly isBroken?: true;
}
