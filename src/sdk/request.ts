import http from 'node:http';
import https from 'node:https';
import { Refused } from '../api/refusal.js';
import { growingPauseMs, systemClock } from '../clock.js';
import { readRetryAfter } from '../readers/retry-after.js';
import {
  type TowlineError,
  UnreachableError,
  InvalidError,
  NotAuthorisedError,
  NotFoundError,
  OtherRequestError,
  RefusedError,
  UnavailableError,
} from './errors.js';
import type { CheckedOptions } from './options.js';
import { setTimeout as sleep } from 'node:timers/promises';

const FIRST_PAUSE_MS = 200;

const LONGEST_PAUSE_MS = 5_000;

/** Statuses after which a retry may succeed. A 500 is a fault that would only repeat itself. */
const PASSING = [408, 429, 502, 503, 504];

interface GatewayAccess {
  /** Without a slash at its end. */
  readonly url: string;
  readonly token: string;
  /** Cancels all requests. */
  readonly signal?: AbortSignal | undefined;
}

interface GatewayRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | undefined>> | undefined;
  /** JSON as text, so that the digits of an amount arrive as they were written. */
  readonly body?: string | undefined;
  /** A start: its 409 says that the reference belongs to another request, its 200 that the flow existed already. */
  readonly isStart?: boolean;
  /** How long the gateway itself may take, without the network time. @default 30,000 */
  readonly withinMs?: number;
  readonly signal?: AbortSignal | undefined;
}

const ON_THE_WAY_MS = 5_000;
/** Errors of a connection that was never made: no byte of the request was sent. */
const NOT_SENT = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'];

/**
 * One request to the gateway, once; its answer as JSON.
 * @throws TowlineError, or the reason of a signal that was aborted
 */
async function requestGateway(access: GatewayAccess, request: GatewayRequest): Promise<unknown> {
  const { method, path, query = {}, body, isStart = false, withinMs = 30_000 } = request;
  const target = new URL(access.url + path);
  for (const [name, value] of Object.entries(query)) if (value !== undefined) target.searchParams.set(name, `${value}`);
  const given = [access.signal, request.signal].filter((signal) => signal !== undefined);
  const answer = await httpRequest({
    url: target,
    method,
    headers: {
      authorization: `Bearer ${access.token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body }),
    signal: AbortSignal.any([...given, AbortSignal.timeout(withinMs + ON_THE_WAY_MS)]),
  }).catch((error: unknown) => {
    for (const signal of given) signal.throwIfAborted();
    throw unreachable(access.url, error);
  });
  const json = parsed(answer.text);
  const isGood = answer.status >= 200 && answer.status < 300;
  if (isGood && json !== undefined) {
    return isStart ? { ...(json as object), alreadyStarted: answer.status === 200 } : json;
  }
  throw (
    (isGood ? undefined : refusalOf(answer, json, isStart)) ??
    new UnreachableError(access.url, 'what answers there is no gateway', { wasNotSent: false })
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function unreachable(url: string, error: unknown): TowlineError {
  const { name, code = 'no answer' } = error as { name?: string; code?: string };
  const problem = name === 'AbortError' || name === 'TimeoutError' ? 'no answer in time' : code;
  return new UnreachableError(url, problem, { wasNotSent: NOT_SENT.includes(code), cause: error });
}

export interface CallOptions {
  /** Cancels, also between two attempts. The request may have been carried out. */
  readonly signal?: AbortSignal | undefined;
}

interface PostOptions extends CallOptions {
  /** A repetition has no further effect. @default false */
  readonly isSafe?: boolean;
  readonly isStart?: boolean;
}

export type Calls = ReturnType<typeof createCalls>;

/** Requests to one gateway, retried if that is safe. Answers are trusted as the gateway's own, and not checked. */
export function createCalls({ url, token, signal: always, retryForMs }: CheckedOptions) {
  const signals = ({ signal }: CallOptions) => [always, signal].filter((given) => given !== undefined);
  const once = (request: GatewayRequest) => requestGateway({ url, token, signal: always }, request);
  const call = (request: GatewayRequest, isSafe: boolean) =>
    repeat(() => once(request), { forMs: retryForMs, isSafe, signals: signals(request) });

  return {
    signals,
    get: <T>(path: string, query: object, { signal }: CallOptions = {}) =>
      call({ method: 'GET', path, query: query as GatewayRequest['query'], signal }, true) as Promise<T>,
    post: <T>(path: string, body: string, { signal, isSafe = false, isStart = false }: PostOptions = {}) =>
      call({ method: 'POST', path, body, isStart, signal }, isSafe) as Promise<T>,
    /** No retry: the caller polls. */
    poll: <T>(path: string, timeoutSeconds: number, { signal }: CallOptions) =>
      once({
        method: 'GET',
        path,
        query: { timeoutSeconds },
        withinMs: timeoutSeconds * 1_000 + 5_000,
        signal,
      }) as Promise<T>,
  };
}

export interface HttpRequest {
  readonly url: URL;
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal: AbortSignal;
}

interface HttpAnswer {
  readonly status: number;
  readonly text: string;
  /** The raw header `Retry-After`. */
  readonly retryAfter: string | undefined;
}

/**
 * One request on a connection of its own, no redirects followed. Not `fetch`: it keeps connections open, including
 * those of cancelled requests, for which a closing gateway would wait; and it refuses some ports.
 */
function httpRequest({ url, method, headers, body, signal }: HttpRequest): Promise<HttpAnswer> {
  const send = url.protocol === 'https:' ? https.request : http.request;
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  return new Promise((resolve, reject) => {
    const request = send(url, { method, headers: { ...headers, ...length }, agent: false, signal });
    request.once('error', reject);
    request.once('response', (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => (text += chunk));
      response.once('error', reject);
      response.once('end', () =>
        resolve({ status: response.statusCode ?? 0, text, retryAfter: response.headers['retry-after'] }),
      );
    });
    request.end(body);
  });
}

const ErrorBody = Refused.partial({ data: true });

const SILENT = 'it does not say why.';

/** The one table from the gateway's statuses to errors; undefined for an answer that no gateway of ours would give. */
function refusalOf({ status, retryAfter }: HttpAnswer, json: unknown, isStart: boolean): TowlineError | undefined {
  const body = ErrorBody.safeParse(json);
  const message = body.data?.message ?? SILENT;
  // A proxy in front of a restarting gateway answers so, too, in its own words.
  if (status >= 500 || status === 429 || status === 408) {
    return new UnavailableError(status, message, readRetryAfter(retryAfter, systemClock.nowMs()));
  }
  if (status === 401 || status === 403) return new NotAuthorisedError(status, message);
  if (!body.success) return undefined;
  const { errors, actions = [] } = body.data.data ?? {};
  if (status === 404) return new NotFoundError(message);
  if (status === 409) return isStart ? new OtherRequestError(message) : new RefusedError(message, actions);
  return status >= 400 ? new InvalidError(message, errors) : undefined;
}

export interface RepeatOptions {
  /** How long to retry after the first failure. */
  readonly forMs: number;
  /** A repetition has no further effect: a read, or what the gateway does once for one reference. */
  readonly isSafe: boolean;
  readonly signals: readonly AbortSignal[];
}

/** Retries with growing pauses, for as long as that is safe and may help. @throws the last error */
export async function repeat<T>(ask: () => Promise<T>, { forMs, isSafe, signals }: RepeatOptions): Promise<T> {
  let givesUpAtMs: number | undefined;
  for (let tries = 0; ; tries += 1) {
    try {
      return await ask();
    } catch (error) {
      if (!mayHelp(error, isSafe)) throw error;
      givesUpAtMs ??= performance.now() + forMs;
      const pauseMs = pauseAfter(tries, error);
      if (performance.now() + pauseMs > givesUpAtMs) throw error;
      await pause(pauseMs, signals);
    }
  }
}

/** @throws the reason of a signal that is aborted meanwhile */
export async function pause(ms: number, signals: readonly AbortSignal[]): Promise<void> {
  await sleep(ms, undefined, { signal: AbortSignal.any([...signals]) }).catch(() => undefined);
  for (const signal of signals) signal.throwIfAborted();
}

function mayHelp(error: unknown, isSafe: boolean): boolean {
  if (error instanceof UnreachableError) return isSafe || error.wasNotSent;
  if (!(error instanceof UnavailableError)) return false;
  // Refused only for its rate, before it was processed.
  return error.status === 429 || (isSafe && PASSING.includes(error.status));
}

/** Doubles, up to a limit, with a random half of it, so that callers do not all come back at once. */
function pauseAfter(tries: number, error: unknown): number {
  const fullMs = growingPauseMs(FIRST_PAUSE_MS, LONGEST_PAUSE_MS, tries);
  const hintMs = error instanceof UnavailableError ? (error.retryAfterMs ?? 0) : 0;
  return Math.max(hintMs, fullMs * (0.5 + Math.random() / 2));
}
