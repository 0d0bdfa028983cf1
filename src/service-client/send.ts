import { AxiosError, create } from 'axios';
import type { CallableName } from '../contract/index.js';
import type { Effect, Operation } from '../contract/operation.js';
import { prefixOf, type Connections } from './connection.js';
import { reasonNotSent, type NotSentReason } from './not-sent.js';
import type { DoubtReason } from './errors.js';
import type { PreparedRequest } from './prepare.js';

export interface WireRequest extends PreparedRequest {
  readonly name: CallableName;
  readonly operation: Operation;
  /** Absent for the operations that are called without the header. */
  readonly token: string | undefined;
  readonly signal: AbortSignal | undefined;
  readonly stillValid: (() => boolean) | undefined;
  /** A shorter timeout than the client's own, ms. */
  readonly mostMs: number | undefined;
}

/** The result of a request on the wire, before it is judged. */
export type WireResult =
  | {
      readonly kind: 'answer';
      readonly httpStatus: number;
      readonly bytes: Uint8Array;
      /** By their names in lower case; only those with one value. */
      readonly headers: Readonly<Record<string, string>>;
    }
  | { readonly kind: 'not-sent'; readonly reason: NotSentReason }
  | { readonly kind: 'doubt'; readonly reason: DoubtReason };

export type Send = (request: WireRequest) => Promise<WireResult>;

export interface SendOptions {
  readonly base: URL;
  readonly connections: Connections;
  /** For the whole exchange, from before the connection to the last byte of the answer; milliseconds. */
  readonly timeoutMs: number;
  readonly maxAnswerBytes: number;
}

/** An answer of a higher status counts as a server error (RFC 9110, 15): nothing that passes it on knows that number. */
const LAST_STATUS = 599;
const BAD_GATEWAY = 502;

/** What may change something at the service goes over a connection of its own, which shows whether it has left. */
const ON_ITS_OWN: readonly Effect[] = ['money', 'account', 'report'];

/** The only place that sends to the service. Never throws, never retries, never follows a redirect. */
export function createSend({ base, connections, timeoutMs, maxAnswerBytes }: SendOptions): Send {
  const prefix = prefixOf(base);
  const http = create({
    adapter: 'http',
    baseURL: prefix,
    allowAbsoluteUrls: false,
    proxy: false,
    maxRedirects: 0,
    maxContentLength: maxAnswerBytes,
    responseType: 'arraybuffer',
    validateStatus: () => true,
    // Bodies are JSON text already, and answers are parsed by `readJson`.
    transformRequest: [(body: unknown) => body],
    transformResponse: [(body: unknown) => body],
  });

  return async ({ operation, path, body, token, signal, stillValid, mostMs = timeoutMs }) => {
    // In addition to the checks of `prepare`: the URL parser must not change the URL.
    if (new URL(`${prefix}${path}`).href !== `${prefix}${path}`) throw new TypeError('a path must not change as a URL');
    if (signal?.aborted) return { kind: 'not-sent', reason: 'cancelled' };

    const fresh = ON_ITS_OWN.includes(operation.effect) ? connections.fresh(stillValid) : undefined;
    const ending = createEnding(Math.min(timeoutMs, mostMs), signal);
    const agent = fresh?.agent ?? connections.kept;
    try {
      const answer = await http.request<Uint8Array>({
        method: operation.method,
        url: path,
        headers: headersOf(body, token),
        signal: ending.signal,
        httpAgent: agent,
        httpsAgent: agent,
        ...(body === undefined ? {} : { data: body }),
      });
      const headers = Object.entries(answer.headers).flatMap(([header, value]): [string, string][] =>
        typeof value === 'string' ? [[header.toLowerCase(), value]] : [],
      );
      return {
        kind: 'answer',
        httpStatus: answer.status > LAST_STATUS ? BAD_GATEWAY : answer.status,
        bytes: answer.data,
        headers: Object.fromEntries(headers),
      };
    } catch (error) {
      if (fresh?.wasTooLate()) return { kind: 'not-sent', reason: 'expired' };
      return judgeFailure(error, ending.cause(), fresh?.wasReady());
    } finally {
      ending.stop();
      fresh?.destroy();
    }
  };
}

/** `wasReady` is known only for fresh connections; it proves more than any error code. */
function judgeFailure(error: unknown, ended: Ended | undefined, wasReady: boolean | undefined): WireResult {
  const proven = reasonNotSent(error);
  if (wasReady === false) {
    return { kind: 'not-sent', reason: ended === 'timeout' ? 'connect-timeout' : (ended ?? proven ?? 'connect') };
  }
  if (ended !== undefined) return { kind: 'doubt', reason: ended };
  if (wasReady === undefined && proven !== undefined) return { kind: 'not-sent', reason: proven };
  const tooLarge = error instanceof AxiosError && /maxContentLength/.test(error.message);
  return { kind: 'doubt', reason: tooLarge ? 'answer-too-large' : 'connection-lost' };
}

const headersOf = (body: string | undefined, token: string | undefined): Record<string, string> => ({
  accept: 'application/json',
  'accept-encoding': 'identity',
  'user-agent': 'towline',
  ...(body === undefined ? {} : { 'content-type': 'application/json' }),
  ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
});

type Ended = 'timeout' | 'cancelled';

/** One signal for both endings, of which only the first counts. axios's own timeout measures silence, not the whole. */
function createEnding(timeoutMs: number, signal: AbortSignal | undefined) {
  const controller = new AbortController();
  let cause: Ended | undefined;
  const end = (as: Ended) => {
    cause ??= as;
    controller.abort();
  };
  const onAbort = () => end('cancelled');
  const timer = setTimeout(() => end('timeout'), timeoutMs);
  signal?.addEventListener('abort', onAbort, { once: true });
  return {
    signal: controller.signal,
    cause: () => cause,
    stop: () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    },
  };
}
