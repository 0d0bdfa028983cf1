/**
 * The store cannot promise durability now: disk full, I/O error, lock held too long, closed. Nothing of the request was
 * written, unless the commit itself was cut off. It carries a code (SQLite's, Postgres's, the system's, or a word of our
 * own), never content.
 */
export class StoreUnavailableError extends Error {
  override readonly name = 'StoreUnavailableError';
  readonly code: string;
  readonly place: 'file' | 'database';

  constructor(code: string, place: 'file' | 'database' = 'file') {
    super(`The store is unavailable (${code})`);
    this.code = code;
    this.place = place;
  }
}

/** This one request can never be stored as it is, such as an event under the id of another one. Retrying is no use. */
export class StoreRequestError extends Error {
  override readonly name = 'StoreRequestError';
  readonly code: string;

  constructor(code: string) {
    super(`The store refused the request (${code})`);
    this.code = code;
  }
}

/** The store was written by a newer Towline. */
export class StoreTooNewError extends Error {
  override readonly name = 'StoreTooNewError';

  constructor(found: number, known: number) {
    super(`The store has schema version ${found}, this Towline knows up to ${known}. Start a newer Towline on it`);
  }
}
