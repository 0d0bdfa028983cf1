/**
 * The store cannot guarantee durability now: disk full, I/O error, lock held too long, closed. Nothing of the request
 * was written, unless the commit itself was cut off. It carries a code (SQLite's, Postgres's, the system's, or a word
 * of our own), never content.
 */
export class StoreUnavailableError extends Error {
  override readonly name = 'StoreUnavailableError';
  readonly code: string;
  readonly place: 'file' | 'database';
  /** An entry of the audit log could not be written, for whatever reason: without it an action is not carried out. */
  readonly isOfAudit: boolean;

  constructor(code: string, place: 'file' | 'database' = 'file', isOfAudit = false) {
    super(isOfAudit ? `The audit log cannot be written (${code})` : `The store is unavailable (${code})`);
    this.code = code;
    this.place = place;
    this.isOfAudit = isOfAudit;
  }
}

/** This one request can never be stored, for example an event under the id of another one. Retrying does not help. */
export class StoreRequestError extends Error {
  override readonly name = 'StoreRequestError';
  readonly code: string;

  constructor(code: string) {
    super(`The store refused the request (${code})`);
    this.code = code;
  }
}

/** The tables of the store are of a newer Towline, which removed something that this one needs. */
export class StoreTooNewError extends Error {
  override readonly name = 'StoreTooNewError';

  constructor(found: number, usableFrom: number, known: number) {
    super(
      `The store has schema version ${found}, which is for a Towline that knows at least version ${usableFrom}; this one ` +
        `knows up to ${known}. Start a newer Towline on it`,
    );
  }
}

/** The tables of the store lack what this Towline needs. */
export class StoreTooOldError extends Error {
  override readonly name = 'StoreTooOldError';

  constructor(found: number, needed: number) {
    super(
      `The store has schema version ${found}, and this Towline needs at least ${needed}: run "towline migrate" with the ` +
        'same settings, then start it again. Processes that run meanwhile go on.',
    );
  }
}
