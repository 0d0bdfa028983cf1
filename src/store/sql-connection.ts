import type { ClaimKey } from './claim.js';
import type { Request, StepResult, Row } from './sql-message.js';

/**
 * The order of writes: writes of one turn happen one after the other, whichever process requests them, and each sees
 * everything that those before it committed. The database decides whether writes of other turns run beside them.
 */
export interface Turn {
  readonly name: string;
  /** Names of several turns that it takes in place of its own: no write of any of them runs beside it. */
  readonly takes?: readonly string[];
  /** Order is kept only within this process: each statement of it is right in whatever order two processes run it. */
  readonly isLocal?: true;
  /**
   * A repetition has no further effect. If it has, and the connection is lost during a commit, the outcome is read back
   * before anything is repeated.
   */
  readonly repeatable: boolean;
}

const nameOfClaim = ({ account, operation, reference }: ClaimKey) =>
  JSON.stringify(['claim', account, operation, reference]);

export const turnOf = {
  claim: (key: ClaimKey): Turn => ({ name: nameOfClaim(key), repeatable: false }),
  claims: (keys: readonly ClaimKey[]): Turn => {
    // In one order everywhere, so that no two wait for one another.
    const takes = keys.map(nameOfClaim).toSorted();
    return { name: JSON.stringify(takes), takes, repeatable: false };
  },
  /** The first one to insert it has it, and again at every repetition. */
  paymentHash: (hash: string): Turn => ({ name: JSON.stringify(['payment-hash', hash]), repeatable: true }),
  // Each flow has its own: one flow that is blocked does not block another.
  inbox: (flowId: string): Turn => ({ name: JSON.stringify(['inbox', flowId]), repeatable: true }),
  /** Takes only what no other process holds. */
  leasing: { name: 'leasing', repeatable: true, isLocal: true },
  /** Compare-and-set, row by row. */
  settling: (firstId: string): Turn => ({
    name: JSON.stringify(['settling', firstId]),
    repeatable: true,
    isLocal: true,
  }),
  purging: { name: 'purging', repeatable: true, isLocal: true },
  purgingAnswers: { name: 'purging-answers', repeatable: true, isLocal: true },
  erasing: (flowId: string): Turn => ({ name: JSON.stringify(['erasing', flowId]), repeatable: true }),
  duty: (name: string): Turn => ({ name: JSON.stringify(['duty', name]), repeatable: true }),
  /** The first to insert an id wins; what is too old is deleted by whichever process comes to it. */
  quotes: { name: 'quotes', repeatable: true, isLocal: true },
  matter: (id: string): Turn => ({ name: JSON.stringify(['matter', id]), repeatable: true }),
  /** Each statement sets columns of one proposal, by its id. */
  proposal: (flowId: string): Turn => ({ name: JSON.stringify(['proposal', flowId]), repeatable: false }),
  /** Each process has a chain of its own. */
  audit: (chain: number): Turn => ({ name: JSON.stringify(['audit', chain]), repeatable: false }),
  meta: { name: 'meta', repeatable: true },
  /** Each writes a row of its own. */
  checking: { name: 'checking', repeatable: true, isLocal: true },
  /** A repetition would only raise the epoch once more. */
  epoch: { name: 'epoch', repeatable: true },
} as const;

/** A database, embedded or shared. */
export interface SqlConnection {
  readonly dialect: Dialect;
  /**
   * Resolves after the commit returned. Each request happens whole or not at all, independently of the others.
   *
   * @throws StoreUnavailableError @throws StoreRequestError
   */
  write(request: Request, turn: Turn): Promise<readonly StepResult[]>;
  /** All steps see one state of the database. @throws StoreUnavailableError @throws StoreRequestError */
  read(request: Request): Promise<readonly StepResult[]>;
  /** Rejects once it can never be used again, though it was not closed. */
  readonly lost?: Promise<never>;
  /** Waits for earlier requests. */
  close(): Promise<void>;
}

/** A TEXT column that is never null. @throws TypeError if it is something else: the statement is wrong */
export function text(row: Row | undefined, column: string): string {
  const value = row?.[column];
  if (typeof value !== 'string') throw new TypeError(`Column ${column} is no text`);
  return value;
}

/** An INTEGER column that is never null. @throws TypeError if it is something else: the statement is wrong */
export function integer(row: Row | undefined, column: string): number {
  const value = row?.[column];
  if (typeof value !== 'number') throw new TypeError(`Column ${column} is no integer`);
  return value;
}

/** SQL that differs between the two databases. All other statements are one text for both. */
export interface Dialect {
  readonly name: 'libsql' | 'postgres';
  /** A statement that makes or changes a table or an index, with the types of Postgres, in those of this database. */
  ddl(statement: string): string;
  /** A JSON array of texts as rows, with one column, `value`. */
  readonly elements: string;
  /** Aggregate: texts of one column as a JSON array, in the order in which they were received. */
  readonly idsAsJson: string;
  /** The conflict target for a repeated event, and the action on a conflict. */
  readonly onRepeatedEvent: string;
  /** Joins `inbox_flows` with the oldest waiting rows of each, as `inbox`; one parameter: how many. By index, however many wait. */
  readonly joinOldestWaiting: string;
  /** Ends a SELECT of rows that are then written: skips rows that another transaction writes. */
  readonly forUpdateSkippingLocked: string;
  /** The code of a statement that used a missing table. */
  isMissingTable(code: string): boolean;
  /** The code of a statement that met a unique constraint. */
  isConflict(code: string): boolean;
}
