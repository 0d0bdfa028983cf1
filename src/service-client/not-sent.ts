/** Why a request was not sent. */
export type NotSentReason =
  'refused' | 'dns' | 'unreachable' | 'tls' | 'connect-timeout' | 'connect' | 'cancelled' | 'expired' | 'token';

interface Proof {
  readonly codes: readonly string[];
  /** If a code proves something only in one system call. */
  readonly syscall?: 'connect';
  readonly reason: NotSentReason;
  readonly why: string;
}

/**
 * Error codes which prove by themselves that no byte of the request left. Not in it, on purpose: ECONNRESET, EPIPE and
 * "socket hang up", which also follow a request that was read and executed.
 */
const PROOFS: readonly Proof[] = [
  { codes: ['ECONNREFUSED'], reason: 'refused', why: 'no listener: there was no connection' },
  { codes: ['ENOTFOUND', 'EAI_AGAIN', 'EAI_FAIL', 'EAI_NODATA'], reason: 'dns', why: 'there was no address' },
  {
    codes: ['EHOSTUNREACH', 'ENETUNREACH', 'ENETDOWN', 'EADDRNOTAVAIL'],
    syscall: 'connect',
    reason: 'unreachable',
    why: 'no route or no local port; the same codes on `read` or `write` come in mid-request',
  },
  {
    codes: ['ETIMEDOUT'],
    syscall: 'connect',
    reason: 'connect-timeout',
    why: 'the handshake of TCP went unanswered; on `read` it means that an answer did',
  },
  {
    codes: [
      'DEPTH_ZERO_SELF_SIGNED_CERT',
      'SELF_SIGNED_CERT_IN_CHAIN',
      'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
      'UNABLE_TO_GET_ISSUER_CERT',
      'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
      'CERT_HAS_EXPIRED',
      'CERT_NOT_YET_VALID',
      'CERT_REVOKED',
      'CERT_UNTRUSTED',
      'CERT_SIGNATURE_FAILURE',
      'INVALID_CA',
      'HOSTNAME_MISMATCH',
      'ERR_TLS_CERT_ALTNAME_INVALID',
    ],
    reason: 'tls',
    why: 'Node checks the certificate before it writes the request',
  },
];

interface SystemError {
  readonly code?: unknown;
  readonly syscall?: unknown;
}

/**
 * The error itself, the error that axios wraps as its cause, and the single attempts of an AggregateError ("localhost"
 * is two addresses, tried in turn).
 */
function* withCauses(error: unknown): Generator<SystemError> {
  for (let at: unknown = error, depth = 0; typeof at === 'object' && at !== null && depth < 5; depth += 1) {
    yield at;
    if (at instanceof AggregateError) yield* at.errors as SystemError[];
    at = (at as { cause?: unknown }).cause;
  }
}

const proofIn = ({ code, syscall }: SystemError): NotSentReason | undefined =>
  PROOFS.find((proof) => proof.codes.includes(String(code)) && (proof.syscall ?? syscall) === syscall)?.reason;

/** What the error's codes prove; undefined if they prove nothing. */
export function reasonNotSent(error: unknown): NotSentReason | undefined {
  for (const cause of withCauses(error)) {
    const reason = proofIn(cause);
    if (reason !== undefined) return reason;
  }
  return undefined;
}
