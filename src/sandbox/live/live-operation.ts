import type { Answer } from '../ledger/executions.js';
import type { Refusal } from '../refusal.js';

/** An operation that the interface lacks and the live service has (service-notes.md). */
export interface LiveOperation {
  readonly method: 'GET' | 'POST';
  readonly path: `/api/v3/${string}/{reference}` | '/api/v3/auth/refresh-token';
  /** `refresh`: the bearer token is a refresh token, which the operation checks by itself. @default 'bearer' */
  readonly auth?: 'refresh';
  /** Inside `database.write`. */
  handle(call: { readonly reference: string; readonly token: string }): Answer | Refusal;
}
