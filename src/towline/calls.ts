import type { CheckedOptions } from './options.js';
import { repeat } from './repeat.js';
import { type GatewayRequest, requestGateway } from './request.js';

export interface CallOptions {
  /** Gives up, also between two tries. What was asked may have been done. */
  readonly signal?: AbortSignal | undefined;
}

interface PostOptions extends CallOptions {
  /** Asking twice does nothing twice. @default false */
  readonly isSafe?: boolean;
  readonly isStart?: boolean;
}

export type Calls = ReturnType<typeof createCalls>;

/** Requests to one gateway, asked again where that is safe. Answers are taken as the gateway's own, and not checked. */
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
    /** Once: who polls asks again anyway. */
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
