/** The audit log, as the gateway shows it. */

/** The kinds of entries. */
export const AUDIT_KINDS = [
  /** A process began a chain of its own. */
  'chain',
  'start',
  /** An admin gave a flow to another name, the subject; or Temporal took the start of that name, and not the first. */
  'give',
  'order',
  /** An order that was not carried out, and why. */
  'refused',
  /** An order that needs a second person, by the first one. */
  'proposal',
  'withdrawal',
  'decode',
  'encode',
  'read-event',
  /** The service's answers to a flow. */
  'read-answers',
  /** A record of the service, through its own path. */
  'read-service',
  /** What signs the callbacks about the flows of a name, the subject. */
  'read-secret',
  'replay-event',
  'resend-callback',
  'account',
  /** What persons and the service said about a flow was erased: details of its earlier entries as well. */
  'erase',
] as const;
export type AuditKind = (typeof AUDIT_KINDS)[number];

/**
 * How the actor was identified: by a gateway token, a token of an OIDC issuer, the service's own token, or the origin
 * of the Temporal UI in development. `unproven`: another Temporal client says so.
 */
export type AuditMeans = 'token' | 'oidc' | 'service-token' | 'ui-origin' | 'unproven' | 'towline';

/** One entry as it is stored. */
export interface AuditEntry {
  /** Its position among all entries, for `after`. Not part of what is proven. */
  readonly seq: number;
  readonly chain: number;
  /** From 1 on, without a gap. */
  readonly number: number;
  readonly at: string;
  readonly kind: AuditKind;
  readonly flowId: string | null;
  readonly subject: string | null;
  readonly action: string | null;
  readonly actor: string;
  readonly role: string | null;
  readonly means: AuditMeans;
  /** With the salt that keeps `detailsHash` from being guessed. Null if they cannot be decrypted, or were erased. */
  readonly details: Readonly<Record<string, unknown>> | null;
  readonly detailsHash: string;
  /** `hash` of the entry before; of the first one 64 zeros. */
  readonly previous: string;
  /** SHA-256 of all the other members but `seq`, `details` and `mac`, as canonical JSON. */
  readonly hash: string;
  /** HMAC-SHA256 of `hash` under a key of the store. */
  readonly mac: string;
}

export interface AuditPage {
  readonly entries: readonly AuditEntry[];
  /** For `after`: where the next page begins; null at the end. */
  readonly next: number | null;
}
