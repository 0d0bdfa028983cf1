import { BaseUrlError, TokenFileError } from '../client/index.js';
import { KeptSecretsError, SettingsError } from '../config/index.js';
import { GatewayPortTakenError } from '../gateway/gateway-errors.js';
import { ExposedKeyFileError, InvalidKeysError, SealBrokenError, UnknownKeyError } from '../keys/index.js';
import { StoreTooNewError, StoreUnavailableError } from '../store/store-errors.js';
import { DevServerError } from '../temporal/dev-server.js';
import { NoTemporalServerError } from '../temporal/find-server.js';
import {
  InvalidError,
  NotAuthorisedError,
  NotFoundError,
  OtherRequestError,
  RefusedError,
  UnavailableError,
  UnreachableError,
} from '../towline/index.js';
import { CliError } from './cli-error.js';
import { explainDatabase } from './explain-database.js';
import { EXIT, type ExitCode } from './exit-codes.js';

export interface Explanation {
  readonly sentence: string;
  readonly exitCode: ExitCode;
}

/** Errors whose message already is a sentence that says what to do. */
const SPOKEN = [
  BaseUrlError,
  DevServerError,
  ExposedKeyFileError,
  GatewayPortTakenError,
  InvalidError,
  InvalidKeysError,
  KeptSecretsError,
  NoTemporalServerError,
  NotFoundError,
  OtherRequestError,
  RefusedError,
  SettingsError,
  StoreTooNewError,
  TokenFileError,
];

/** The one table from what went wrong to what a person is told; undefined for what is a bug of ours. */
export function explainError(error: unknown): Explanation | undefined {
  if (error instanceof CliError) return { sentence: error.message, exitCode: error.exitCode };
  if (SPOKEN.some((known) => error instanceof known)) return refused((error as Error).message);
  const ofDatabase = explainDatabase(error);
  if (ofDatabase !== undefined) return refused(ofDatabase);
  if (error instanceof StoreUnavailableError) {
    return refused(`The store in TOWLINE_HOME cannot be opened (${error.code}): see to its disk and its permissions.`);
  }
  if (error instanceof UnknownKeyError || error instanceof SealBrokenError) {
    return refused(
      'The store was made with other payload keys: set PAYLOAD_KEYS (or TOWLINE_HOME, or DATABASE_URL) as before.',
    );
  }
  return explainGateway(error);
}

/** What the gateway said, with the names of our own settings. */
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
