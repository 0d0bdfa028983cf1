import type { ClaimStore } from './claim.js';
import type { DeploymentStore } from './deployment.js';
import type { InboxStore } from './inbox.js';
import type { QuoteStore } from './quote.js';

/** Claims, inbox and remembered quotes, durable. Embedded (libsql) or shared (Postgres); both behave the same. */
export interface Store {
  readonly claims: ClaimStore;
  readonly inbox: InboxStore;
  readonly quotes: QuoteStore;
  readonly deployment: DeploymentStore;

  /** HMAC-SHA256 (hex) under the store's own key, which never rotates; `purpose` separates the uses. */
  mac(purpose: string, text: string): string;

  /** Resolves while the store can write durably, else throws StoreUnavailableError. */
  check(): Promise<void>;
  close(): Promise<void>;
}
