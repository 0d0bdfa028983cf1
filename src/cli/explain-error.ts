import { BaseUrlError } from '../service-client/index.js';
import { KeptSecretsError, SecretFileError, SettingsError } from '../config/index.js';
import { GatewayPortTakenError } from '../gateway/http/server.js';
import { ExposedKeyFileError, InvalidKeysError, SealBrokenError, UnknownKeyError } from '../keys/index.js';
import { StoreTooNewError, StoreTooOldError, StoreUnavailableError, StoreRequestError } from '../store/store-errors.js';
import { TemporalSettingsError } from '../temporal/connect-config.js';
import { GRPC, grpcStatusOf } from '../temporal/connection.js';
import { MetricsPortTakenError } from '../temporal/sdk-logger.js';
import { DevServerError } from '../dev-server/dev-server.js';
import { NoTemporalServerError } from '../dev-server/find-server.js';
import {
  InvalidError,
  NotAuthorisedError,
  NotFoundError,
  OtherRequestError,
  RefusedError,
  UnavailableError,
  UnreachableError,
} from '../sdk/index.js';
import { CliError, EXIT, type ExitCode } from './exit-codes.js';

export interface Explanation {
  readonly sentence: string;
  readonly exitCode: ExitCode;
}

/** Errors whose message is already a sentence that says what to do. */
const SPOKEN = [
  BaseUrlError,
  DevServerError,
  ExposedKeyFileError,
  GatewayPortTakenError,
  InvalidError,
  InvalidKeysError,
  KeptSecretsError,
  MetricsPortTakenError,
  NoTemporalServerError,
  NotFoundError,
  OtherRequestError,
  RefusedError,
  SettingsError,
  StoreTooNewError,
  StoreTooOldError,
  SecretFileError,
  TemporalSettingsError,
];

/** The one table from errors to sentences for a person; undefined for a bug of ours. */
export function explainError(error: unknown): Explanation | undefined {
  if (error instanceof CliError) return { sentence: error.message, exitCode: error.exitCode };
  if (SPOKEN.some((known) => error instanceof known)) return refused((error as Error).message);
  const ofDatabase = explainDatabase(error);
  if (ofDatabase !== undefined) return refused(ofDatabase);
  if (error instanceof StoreUnavailableError) {
    return refused(`The store in TOWLINE_HOME cannot be opened (${error.code}): check its disk and its permissions.`);
  }
  if (error instanceof UnknownKeyError || error instanceof SealBrokenError) {
    return refused(
      'The store was made with other payload keys: set PAYLOAD_KEYS (or TOWLINE_HOME, or DATABASE_URL) as before.',
    );
  }
  if (IS_AWAY.includes(grpcStatusOf(error))) {
    const sentence = 'Temporal cannot be reached, or not its database: start it, or set TEMPORAL_ADDRESS.';
    return { sentence, exitCode: EXIT.unreachable };
  }
  return explainGateway(error);
}

const IS_AWAY: readonly (number | undefined)[] = [GRPC.unavailable, GRPC.deadlineExceeded];

/** The gateway's message, with the names of our own settings. */
function explainGateway(error: unknown): Explanation | undefined {
  if (error instanceof NotAuthorisedError) {
    const token = 'The gateway does not know the token: set TOWLINE_TOKEN to the secret of one of its GATEWAY_TOKENS.';
    return refused(error.status === 401 ? token : error.message);
  }
  if (error instanceof UnavailableError) return { sentence: error.message, exitCode: EXIT.unreachable };
  if (!(error instanceof UnreachableError)) return undefined;
  const sentence = `The gateway at ${error.url} cannot be reached: start it (towline up), or set GATEWAY_URL.`;
  return { sentence, exitCode: EXIT.unreachable };
}

function refused(sentence: string): Explanation {
  return { sentence, exitCode: EXIT.refused };
}

/** SQLSTATEs, by what a person can do about them. */
const NOT_LET_IN = /^28/;
const NO_DATABASE = '3D000';
const NO_RIGHT = '42501';
/** Codes of the system, and the SQLSTATEs of a connection that fails or a server that starts or ends. */
const AWAY = /^(E[A-Z]+|CONNECTION|08...|57P..)$/;

/** Why the store on Postgres cannot be used, and what to do; undefined for errors that are not about it. */
function explainDatabase(error: unknown): string | undefined {
  if (error instanceof StoreRequestError && error.code === NO_RIGHT) {
    return `The database of DATABASE_URL does not let us make tables (${error.code}): grant its user CREATE on its schema, or run towline migrate as the owner of the tables.`;
  }
  if (!(error instanceof StoreUnavailableError) || error.place !== 'database') return undefined;
  const { code } = error;
  if (NOT_LET_IN.test(code)) {
    return `The database of DATABASE_URL refuses the login (${code}): check the user and the password.`;
  }
  if (code === NO_DATABASE) return `The server of DATABASE_URL has no such database (${code}): make it.`;
  if (AWAY.test(code)) {
    return `The database of DATABASE_URL cannot be reached (${code}): start it, or check the host and the port.`;
  }
  return `The database of DATABASE_URL cannot be written (${code}): its own log says why.`;
}
