import { type TowlineError, UnreachableError } from './errors.js';
import { httpRequest } from './http-request.js';
import { refusalOf } from './refusal-of.js';

export interface GatewayAccess {
  /** Without a slash at its end. */
  readonly url: string;
  readonly token: string;
  /** Gives up everything that is asked. */
  readonly signal?: AbortSignal | undefined;
}

export interface GatewayRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | undefined>> | undefined;
  /** JSON as text, so that the digits of an amount arrive as they were written. */
  readonly body?: string | undefined;
  /** A start: its 409 says that the reference belongs to another request. */
  readonly isStart?: boolean;
  /** How long the gateway itself may take, besides the way to it. @default 30,000 */
  readonly withinMs?: number;
  readonly signal?: AbortSignal | undefined;
}

const ON_THE_WAY_MS = 5_000;
/** Errors of a connection that was never made: no byte of the request got out. */
const NOT_SENT = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'];

/**
 * One request to the gateway, once; its answer as JSON.
 * @throws TowlineError, or the reason of a signal that was aborted
 */
export async function requestGateway(access: GatewayAccess, request: GatewayRequest): Promise<unknown> {
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
  if (isGood && json !== undefined) return json;
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
