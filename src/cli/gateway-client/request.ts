import { z } from 'zod';
import { GatewayRefusedError, GatewayUnavailableError, GatewayUnreachableError } from './errors.js';
import { httpRequest } from './http-request.js';

export interface GatewayAccess {
  /** Without a slash at its end. */
  readonly url: string;
  readonly token: string;
  /** Gives up everything that is asked. */
  readonly signal?: AbortSignal;
}

export interface GatewayRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  /** JSON as text, so that the digits of an amount arrive as they were written. */
  readonly body?: string;
  /** How long the gateway itself may take, besides the way to it. @default 30,000 */
  readonly withinMs?: number;
}

const ON_THE_WAY_MS = 5_000;
const ErrorBody = z.object({
  message: z.string(),
  data: z.object({ errors: z.array(z.object({ path: z.string(), message: z.string() })).optional() }).optional(),
});

/**
 * One request to the gateway, its answer as JSON.
 * @throws GatewayUnreachableError, GatewayUnavailableError, GatewayRefusedError
 */
export async function requestGateway(access: GatewayAccess, request: GatewayRequest): Promise<unknown> {
  const { url, token } = access;
  const { method, path, query = {}, body, withinMs = 30_000 } = request;
  const inTime = AbortSignal.timeout(withinMs + ON_THE_WAY_MS);
  const target = new URL(url + path);
  for (const [name, value] of Object.entries(query)) if (value !== undefined) target.searchParams.set(name, `${value}`);
  const { status, text } = await httpRequest({
    url: target,
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body }),
    signal: access.signal === undefined ? inTime : AbortSignal.any([access.signal, inTime]),
  }).catch(() => {
    throw new GatewayUnreachableError(url);
  });
  const answer = parsed(text, url);
  if (status < 200 || status >= 300) throw refusal(status, answer);
  return answer;
}

function parsed(text: string, url: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new GatewayUnreachableError(url);
  }
}

function refusal(status: number, answer: unknown): Error {
  if (status === 401) {
    return new GatewayRefusedError(
      status,
      'The gateway does not know the token: set TOWLINE_TOKEN to the secret of one of its GATEWAY_TOKENS.',
    );
  }
  const body = ErrorBody.safeParse(answer);
  const message = body.data?.message ?? `The gateway answers ${status} without saying why.`;
  if (status >= 500) return new GatewayUnavailableError(status, message);
  const errors = body.data?.data?.errors ?? [];
  return new GatewayRefusedError(status, [message, ...errors.map((at) => `  ${at.path}: ${at.message}`)].join('\n'));
}
