/**
 * What an error of `pg` means for a transaction. `lost`: the connection is gone, and with it whatever the server said
 * last. `again`: the server undid it, and may take it later. `refused`: it can never be done as it is.
 */
export interface PostgresFailure {
  readonly kind: 'lost' | 'again' | 'refused';
  /** SQLSTATE, a code of the system, or `CONNECTION`. Never a message: those may quote values, users and hosts. */
  readonly code: string;
}

/** Connection exceptions, and those with which the server ends a session. */
const LOST = /^(08...|57P..|25P03|25P04)$/;
/** Bad data, constraints, and statements that are wrong or not allowed. */
const REFUSED = /^(0A...|21...|22...|23...|42...)$/;

export function judgePostgresError(error: unknown): PostgresFailure {
  const code = (error as { readonly code?: unknown } | null)?.code;
  if (typeof code !== 'string' || code === '') return { kind: 'lost', code: 'CONNECTION' };
  if (!/^[0-9A-Z]{5}$/.test(code) || LOST.test(code)) return { kind: 'lost', code };
  return { kind: REFUSED.test(code) ? 'refused' : 'again', code };
}
