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
