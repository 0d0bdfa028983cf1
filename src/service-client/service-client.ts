import {
  callable,
  callableNames,
  type CallableName,
  type OperationArgument,
  type OperationData,
  type OperationName,
} from '../contract/index.js';
import type { Operation } from '../contract/operation.js';
import { NotSentError, RateLimitedError } from './errors.js';
import { createSend, type Send, type WireResult } from './send.js';
import { checkBaseUrl, createConnections } from './connection.js';
import { judge } from './judge.js';
import { prepare } from './prepare.js';
import { withoutCallbackCapabilities } from '../protocol/capabilities.js';
import { systemClock } from '../clock.js';

export interface CallOptions {
  /** Ends the call. If the request may have left already, the outcome is unknown. */
  readonly signal?: AbortSignal;
  /** For a money POST: called right before its first byte. False sends nothing: NotSentError, `expired`. */
  readonly stillValid?: () => boolean;
  /** The exchange ends after this many ms, if the client's own timeout does not end it earlier. */
  readonly mostMs?: number | undefined;
  /** Called with the service's raw answer, before it is judged. */
  readonly onAnswer?: (answer: ServiceAnswer) => void;
}

/** The service's answer, byte for byte: it may contain secrets (account operations). */
export interface ServiceAnswer {
  readonly httpStatus: number;
  /** Headers for the caller: the content type, and hints on when to retry. */
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Uint8Array;
}

/** An answer to be passed on. */
export interface RelayedAnswer extends ServiceAnswer {
  /** `data` of a success, as our tolerant schema reads it; undefined if it is not a success, or cannot be read. */
  readonly data: unknown;
  /** Of a 429: how long the service asks us to wait, ms. Absent if it does not say. */
  readonly retryAfterMs?: number | undefined;
}

type Call<N extends CallableName> = [OperationArgument<N>] extends [void]
  ? (argument?: undefined, options?: CallOptions) => Promise<OperationData<N>>
  : (argument: OperationArgument<N>, options?: CallOptions) => Promise<OperationData<N>>;

/**
 * One method for each operation: takes the body (or the path parameter), returns the answer's `data`. Each throws
 * InvalidRequestError, NotSentError, TurnedAwayError, RejectedError; operations that move money or belong to the account
 * also throw DuplicateReferenceError and UnknownOutcomeError; the others ServiceUnavailableError and ContractBrokenError.
 */
export type ServiceClient = { readonly [N in CallableName]: Call<N> } & {
  /**
   * One call whose answer is passed on unchanged, whatever its status and shape. Throws the operation's errors if there
   * is none to pass on: no answer, a redirect, or a 401, which is about our own token.
   */
  relay(name: OperationName, argument: unknown, options?: CallOptions): Promise<RelayedAnswer>;
  /** Closes idle connections. */
  close(): void;
};

export interface ServiceClientOptions {
  readonly baseUrl: string;
  /** The bearer token, without the word "Bearer". */
  readonly token: () => Promise<string>;
  /** Called after a 401 with the refused token; the next call reads the token again. The request is not sent again. */
  readonly onUnauthorized?: (rejected: string) => Promise<void>;
  /** For one whole call, milliseconds. @default 30,000 */
  readonly timeoutMs?: number;
  /** Plain http beyond loopback. @default false */
  readonly allowHttp?: boolean;
  /** PEM certificates to trust instead of Node's own. */
  readonly ca?: string;
  /** @default 1 MiB */
  readonly maxAnswerBytes?: number;
  /** Further words with which the service says "duplicate", in addition to those of the contract. @default none */
  readonly duplicateWords?: readonly string[];
  /** Milliseconds since the epoch, for `Retry-After` dates. @default the system's clock */
  readonly nowMs?: () => number;
  /** Called with the result of each call on the wire: a status class, `not_sent` or `no_answer`. */
  readonly onCall?: (call: ServiceCall) => void;
  /** The way of a request to the service and of its answer back. @default HTTP */
  readonly send?: Send;
}

export interface ServiceCall {
  readonly operation: CallableName;
  readonly result: string;
  readonly seconds: number;
}

/** The service as typed functions. Throws BaseUrlError. It never retries: its callers decide about retries. */
export function createServiceClient(options: ServiceClientOptions): ServiceClient {
  const base = checkBaseUrl(options.baseUrl, options.allowHttp ?? false);
  const connections = createConnections(base.protocol === 'https:', options.ca);
  const send =
    options.send ??
    createSend({
      base,
      connections,
      timeoutMs: options.timeoutMs ?? 30_000,
      maxAnswerBytes: options.maxAnswerBytes ?? 1_048_576,
    });
  const nowMs = options.nowMs ?? systemClock.nowMs;
  const duplicateWords = options.duplicateWords ?? [];

  const exchange = async (
    name: CallableName,
    argument: unknown,
    { signal, stillValid, mostMs, onAnswer }: CallOptions = {},
  ) => {
    const operation: Operation = callable[name];
    const request = prepare(name, argument);
    const token = operation.auth === 'bearer' ? await tokenFor(name, options.token) : undefined;
    const startedMs = performance.now();
    const result = withoutCapabilities(await send({ ...request, name, operation, token, signal, stillValid, mostMs }));
    options.onCall?.({ operation: name, result: resultOf(result), seconds: (performance.now() - startedMs) / 1_000 });
    if (result.kind === 'answer' && result.httpStatus === 401 && token !== undefined) {
      // A failure to refresh must not hide the 401: it shows again at the next call.
      await options.onUnauthorized?.(token).catch(() => undefined);
    }
    if (result.kind === 'answer') onAnswer?.(answerOf(result, token));
    const redact = createRedactor(token === undefined ? [] : [token], argument);
    const reference = referenceIn(operation, argument);
    return { result, token, data: () => judge(name, result, { redact, nowMs, duplicateWords, reference }) };
  };

  const calls = callableNames.map((name) => [
    name,
    async (argument: unknown, callOptions?: CallOptions) => (await exchange(name, argument, callOptions)).data(),
  ]);
  const relay: ServiceClient['relay'] = async (name, argument, callOptions) => {
    const { result, token, data } = await exchange(name, argument, callOptions);
    if (result.kind !== 'answer' || isAboutUs(result.httpStatus, token)) {
      data();
      throw new TypeError('what cannot be passed on is an error');
    }
    return { ...answerOf(result, token), ...readOf(data) };
  };
  return { ...Object.fromEntries(calls), relay, close: () => connections.close() } as ServiceClient;
}

const withoutCapabilities = (result: WireResult): WireResult =>
  result.kind === 'answer' ? { ...result, bytes: withoutCallbackCapabilities(result.bytes) } : result;

function resultOf(result: WireResult): string {
  if (result.kind === 'not-sent') return 'not_sent';
  if (result.kind === 'doubt') return 'no_answer';
  // The two that have a cause of their own: our token, our pace.
  return [401, 429].includes(result.httpStatus) ? `${result.httpStatus}` : `${Math.floor(result.httpStatus / 100)}xx`;
}

/** A redirect would lead our caller past us, and a 401 is about the token that we sent. */
const isAboutUs = (httpStatus: number, token: string | undefined): boolean =>
  (httpStatus >= 300 && httpStatus <= 399) || (httpStatus === 401 && token !== undefined);

const PASSED_ON = /^(content-type|retry-after|x-ratelimit-.+|ratelimit(-.+)?)$/;

function answerOf(
  { httpStatus, headers, bytes }: Extract<WireResult, { kind: 'answer' }>,
  token: string | undefined,
): ServiceAnswer {
  const kept = Object.entries(headers).filter(([name]) => PASSED_ON.test(name));
  const isSuccess = httpStatus >= 200 && httpStatus <= 299;
  // A refusal may repeat our own token; in a success it may be the answer itself.
  const shown = isSuccess || token === undefined ? bytes : without(bytes, token);
  return { httpStatus, headers: Object.fromEntries(kept), bytes: shown };
}

function without(bytes: Uint8Array, secret: string): Uint8Array {
  const buffer = Buffer.from(bytes);
  // One byte is one character, so bytes that are not UTF-8 stay unchanged.
  return buffer.includes(secret) ? Buffer.from(buffer.toString('latin1').replaceAll(secret, MARK), 'latin1') : bytes;
}

function readOf(data: () => unknown): Pick<RelayedAnswer, 'data' | 'retryAfterMs'> {
  try {
    return { data: data() };
  } catch (error) {
    return { data: undefined, retryAfterMs: error instanceof RateLimitedError ? error.retryAfterMs : undefined };
  }
}

function referenceIn({ reference }: Operation, argument: unknown): string | undefined {
  const value = reference === undefined ? argument : (argument as Readonly<Record<string, unknown>>)[reference];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

async function tokenFor(name: CallableName, source: () => Promise<string>): Promise<string> {
  const token = await source().catch(() => undefined);
  // A line break in it would start another header.
  if (token === undefined || !/^[\x21-\x7e]+$/.test(token)) throw new NotSentError(name, 'token');
  return token;
}

const SENSITIVE_MEMBER =
  /phone|name|holder|number|account|address|card|cvv|expiry|email|secret|verificationToken|key|bolt11|invoice|hash|url|notes/i;
/** Card, phone and account numbers, also with spaces and dashes in between. */
const LONG_DIGITS = /\+?\d(?:[ -]?\d){7,}/g;
const BEARER = /\bBearer\s+\S+/gi;
const MARK = '[redacted]';
const MIN_LENGTH = 3;
const MAX_LENGTH = 300;

/**
 * Makes the service's text safe to show, because it may repeat what it refuses. Removes the token, the request's
 * personal members wherever they recur, and every long run of digits.
 */
function createRedactor(secrets: readonly string[], request: unknown): (text: string) => string {
  /** Of a caller's own words there may be thousands: they are collected only for a text that is shown. */
  let known: readonly string[] | undefined;
  const unwanted = () =>
    (known ??= [...new Set([...secrets, ...sensitiveTexts(request, false)])]
      .filter((text) => text.length >= MIN_LENGTH)
      .sort((left, right) => right.length - left.length));
  return (text) => {
    const start = text.slice(0, 10 * MAX_LENGTH);
    const lower = start.toLowerCase();
    // A pattern for each that is in it, and none for the others.
    const clean = unwanted()
      .filter((secret) => lower.includes(secret.toLowerCase()))
      .map((secret) => new RegExp(secret.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'), 'gi'))
      .reduce((rest, secret) => rest.replace(secret, MARK), start);
    const plain = clean
      .replace(BEARER, MARK)
      .replace(LONG_DIGITS, MARK)
      .replace(/\p{Cc}+/gu, ' ');
    return plain.length <= MAX_LENGTH ? plain : `${plain.slice(0, MAX_LENGTH - 1)}…`;
  };
}

function sensitiveTexts(value: unknown, sensitive: boolean): string[] {
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).flatMap(([member, inner]) =>
      sensitiveTexts(inner, sensitive || SENSITIVE_MEMBER.test(member)),
    );
  }
  // Also word by word: the service may repeat only the first word of "Jane Doe".
  return sensitive && (typeof value === 'string' || typeof value === 'number')
    ? [String(value), ...String(value).split(/\s+/)]
    : [];
}
