import type { Request, StepResult, Row, Step } from './sql-message.js';

/**
 * What a write must not overtake, and must not be overtaken by: writes of one turn happen one after the other, whichever
 * process asks, and each sees all that those before it committed. Whether writes of other turns run beside them is up to
 * the database.
 */
export interface Turn {
  readonly name: string;
  /** Order is kept within this process alone: each statement of it is right in whatever order two processes run it. */
  readonly isLocal?: true;
  /**
   * Done twice is as good as done once. Where it is not, and the connection is lost while a commit is on its way, what
   * became of it is read back before anything is done again.
   */
  readonly repeatable: boolean;
}

export const turnOf = {
  claim: (account: string, operation: string, reference: string): Turn => ({
    name: JSON.stringify(['claim', account, operation, reference]),
    repeatable: false,
  }),
  // Each flow has its own: what holds one flow up holds up no other.
  inbox: (flowId: string): Turn => ({ name: JSON.stringify(['inbox', flowId]), repeatable: true }),
  /** Takes what no other process holds. */
  leasing: { name: 'leasing', repeatable: true, isLocal: true },
  /** Compare-and-set, row by row. */
  settling: (firstId: string): Turn => ({
    name: JSON.stringify(['settling', firstId]),
    repeatable: true,
    isLocal: true,
  }),
  purging: { name: 'purging', repeatable: true, isLocal: true },
  duty: (name: string): Turn => ({ name: JSON.stringify(['duty', name]), repeatable: true }),
  quotes: { name: 'quotes', repeatable: true },
  matter: (id: string): Turn => ({ name: JSON.stringify(['matter', id]), repeatable: true }),
  /** Each statement sets what it sets, by the id of one proposal. */
  proposal: (flowId: string): Turn => ({ name: JSON.stringify(['proposal', flowId]), repeatable: false }),
  /** Each process has a chain of its own. */
  audit: (chain: number): Turn => ({ name: JSON.stringify(['audit', chain]), repeatable: false }),
  meta: { name: 'meta', repeatable: true },
  /** Twice would only make one epoch more. */
  epoch: { name: 'epoch', repeatable: true },
} as const;

/** A database, embedded or shared. */
export interface SqlConnection {
  readonly dialect: Dialect;
  /**
   * Resolves after the commit returned. Each request happens whole or not at all, whatever becomes of the others.
   *
   * @throws StoreUnavailableError @throws StoreRequestError
   */
  write(request: Request, turn: Turn): Promise<readonly StepResult[]>;
  /** All steps see one state of the database. @throws StoreUnavailableError @throws StoreRequestError */
  read(request: Request): Promise<readonly StepResult[]>;
  /** Rejects once nothing can ever be asked of it again, though it was not closed. */
  readonly lost?: Promise<never>;
  /** Waits for what was asked before. */
  close(): Promise<void>;
}

/** A TEXT column that is never null. @throws TypeError where it is something else: the statement is wrong */
export function text(row: Row | undefined, column: string): string {
  const value = row?.[column];
  if (typeof value !== 'string') throw new TypeError(`Column ${column} is no text`);
  return value;
}

/** An INTEGER column that is never null. @throws TypeError where it is something else: the statement is wrong */
export function integer(row: Row | undefined, column: string): number {
  const value = row?.[column];
  if (typeof value !== 'number') throw new TypeError(`Column ${column} is no integer`);
  return value;
}

/** Where the two databases need other words for the same. All other statements are one text for both. */
export interface Dialect {
  /** A JSON array of texts as rows, with one column, `value`. */
  readonly elements: string;
  /** Aggregate: texts of one column as a JSON array, in the order in which they were received. */
  readonly idsAsJson: string;
  /** What an event conflicts with where it came before, and what happens then. */
  readonly onRepeatedEvent: string;
  /** Joins `inbox_flows` with the oldest waiting rows of each, as `inbox`; one parameter: how many. By index, however many wait. */
  readonly joinOldestWaiting: string;
  /** Ends a SELECT of rows that are then written: passes over those that another transaction writes. */
  readonly forUpdateSkippingLocked: string;
  /** The code of a statement that asked for a table that is not there. */
  isMissingTable(code: string): boolean;
  /** The code of a statement that met a unique constraint. */
  isConflict(code: string): boolean;
  /** What is kept for the sake of the connections alone: what is too old to be asked for goes, counts are added up. */
  tidy(nowMs: number): readonly Step[];
}
