import { randomBytes } from 'node:crypto';
import {
  type CallOptions,
  type ServiceAnswer,
  type ServiceClient,
  DuplicateReferenceError,
  InvalidRequestError,
  NotSentError,
  RateLimitedError,
  RejectedError,
  TurnedAwayError,
  UnknownOutcomeError,
} from '../../service-client/index.js';
import { isGiven, type Settings, type Environment } from '../../config/index.js';
import type { CliContext } from '../context.js';
import { openService } from '../wiring/dependencies.js';
import { CliError, EXIT } from '../exit-codes.js';
import { loadSettings, type LoadedSettings } from '../wiring/load-settings.js';
import { answerPlace, type AnswerOptions } from './answer-place.js';

export interface AccountCall<T> {
  readonly settings: Settings;
  readonly options: AnswerOptions;
  /** Of the file, without time. */
  readonly name: string;
  /** For people: "The API key". */
  readonly what: string;
  /** What to check before it is tried again, if the outcome is unknown. */
  readonly check: string;
  readonly call: (service: ServiceClient, options: Pick<CallOptions, 'onAnswer'>) => Promise<T>;
  readonly text: (answer: T) => string;
}

/** One account operation, tried once: makes a place for its secret answer, calls, and stores the answer. */
export async function callAccount<T>(context: CliContext, asked: AccountCall<T>): Promise<void> {
  const { settings, options, name, what, check } = asked;
  const place = await answerPlace(context, options, { home: settings.towlineHome, name, what, check });
  const service = openService(settings, { serviceToken: () => settings.serviceToken });
  let answer: T;
  const came: { answer?: ServiceAnswer } = {};
  try {
    answer = await asked.call(service, { onAnswer: (answered) => (came.answer = answered) });
  } catch (error) {
    // It may hold the new key, in a shape that we do not know.
    const text = error instanceof UnknownOutcomeError ? textOfSuccess(came.answer) : '';
    if (text === '') await place.drop();
    else await place.write(`${text}\n`, 'What the service answered, as it came,');
    throw accountError(error, text === '' ? check : `${READ_IT} ${check}`);
  } finally {
    service.close();
  }
  await place.write(`${asked.text(answer)}\n`);
}

const textOfSuccess = (answer: ServiceAnswer | undefined): string =>
  answer === undefined || answer.httpStatus > 299 ? '' : Buffer.from(answer.bytes).toString('utf8').trim();
const READ_IT = 'Read its answer first: it says what was done in a form that Towline does not know.';

export const asJson = (answer: unknown): string => JSON.stringify(answer, null, 2);

/** Whether the service has certainly not done it. */
export function wasNotDone(error: unknown): boolean {
  return [NotSentError, TurnedAwayError, InvalidRequestError, RejectedError].some((kind) => error instanceof kind);
}

/**
 * Explains the failure of an account operation, which was tried once, as a sentence that says what to do.
 * @param check what to check before it is tried again, if the outcome is unknown
 */
function accountError(error: unknown, check: string): unknown {
  if (error instanceof RateLimitedError) {
    const wait = error.retryAfterMs === undefined ? '' : `, in ${Math.ceil(error.retryAfterMs / 1_000)} s`;
    return new CliError(`The service takes no more requests now. Nothing was done: try again later${wait}.`);
  }
  if (error instanceof TurnedAwayError) return noToken('The service refused the token');
  if (error instanceof NotSentError) return notSent(error);
  if (error instanceof InvalidRequestError) {
    const lines = error.problems.map(({ path, problem }) => `  ${path || 'the input'}: ${problem}`);
    return new CliError(['The input is not what the service takes. Nothing was sent.', ...lines].join('\n'));
  }
  if (error instanceof RejectedError) {
    const members = error.fields.length === 0 ? '' : ` Look at ${error.fields.join(', ')}.`;
    return new CliError(`The service refused it (${error.httpStatus}): ${error.message.replace(/\.$/, '')}.${members}`);
  }
  if (error instanceof DuplicateReferenceError) {
    return new CliError(`The service says that it has this already (HTTP ${error.httpStatus}). ${check}`);
  }
  if (error instanceof UnknownOutcomeError) {
    const status = error.httpStatus === undefined ? '' : `, HTTP ${error.httpStatus}`;
    return new CliError(
      `The outcome is unknown (${error.reason}${status}). It is not tried again. ${check}`,
      EXIT.parked,
    );
  }
  return error;
}

function notSent({ reason }: NotSentError): CliError {
  if (reason === 'token') return noToken('There is no token that can be sent');
  return new CliError(`The service cannot be reached (${reason}). Nothing was sent.`, EXIT.unreachable);
}

const noToken = (why: string): CliError =>
  new CliError(`${why}. Nothing was done: set SERVICE_TOKEN (or SERVICE_TOKEN_FILE) to a valid one.`);

/**
 * Settings that a gateway or worker needs, but not an account operation: without an account none of them exists yet.
 */
const NOT_NEEDED = {
  PUBLIC_URL: () => 'https://not-needed.invalid',
  PAYLOAD_KEYS: () => `unused:${randomBytes(32).toString('base64')}`,
  GATEWAY_TOKENS: () => `unused:admin:${randomBytes(24).toString('base64url')}`,
} as const;

/**
 * The settings for an account operation.
 * @param needs `token`: it sends the service token; `nothing`: it is called before there is one
 */
export function accountSettings(env: Environment, needs: 'token' | 'nothing'): Promise<LoadedSettings> {
  const standIns = Object.entries(NOT_NEEDED).flatMap(([name, make]) => (isGiven(env, name) ? [] : [[name, make()]]));
  const hasToken = needs === 'token' || isGiven(env, 'SERVICE_TOKEN');
  return loadSettings({
    ...env,
    ...Object.fromEntries(standIns),
    // Nothing that development generates is needed here.
    DEVELOPMENT: '',
    ...(hasToken ? {} : { SERVICE_TOKEN: 'none-yet-and-never-sent' }),
  });
}

/** For every account command: where its secret answer goes. */
export const OUT = [
  '--out <file>',
  'write the answer to this new file, with mode 0600 (default: a new file in TOWLINE_HOME/account)',
] as const;

export const STDOUT = ['--stdout', 'print the answer instead of writing it to a file; it is secret'] as const;
