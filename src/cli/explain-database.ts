import { StoreRequestError, StoreUnavailableError } from '../store/store-errors.js';

/** SQLSTATEs, by what a person can do about them. */
const NOT_LET_IN = /^28/;
const NO_DATABASE = '3D000';
const NO_RIGHT = '42501';
/** Codes of the system, and the SQLSTATEs of a connection that fails or a server that starts or ends. */
const AWAY = /^(E[A-Z]+|CONNECTION|08...|57P..)$/;

/** Why the store on Postgres cannot be used, and what to do; undefined for errors that are not about it. */
export function explainDatabase(error: unknown): string | undefined {
  if (error instanceof StoreRequestError && error.code === NO_RIGHT) {
    return `The database of DATABASE_URL does not let us make tables (${error.code}): grant its user CREATE on its schema.`;
  }
  if (!(error instanceof StoreUnavailableError) || error.place !== 'database') return undefined;
  const { code } = error;
  if (NOT_LET_IN.test(code)) {
    return `The database of DATABASE_URL does not let us in (${code}): see to the user and the password.`;
  }
  if (code === NO_DATABASE) return `The server of DATABASE_URL has no such database (${code}): make it.`;
  if (AWAY.test(code)) {
    return `The database of DATABASE_URL cannot be reached (${code}): start it, or see to the host and the port.`;
  }
  return `The database of DATABASE_URL cannot be written (${code}): its own log says why.`;
}
