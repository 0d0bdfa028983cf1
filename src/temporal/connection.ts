import { setImmediate as turnOfLoop, setTimeout as sleep } from 'node:timers/promises';
import {
  Client,
  Connection,
  defaultGrpcRetryOptions,
  type ConnectionOptions,
  makeGrpcRetryInterceptor,
  isGrpcServiceError,
} from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { StoreUnavailableError } from '../store/store-errors.js';

export interface ConnectOptions {
  /** The `TEMPORAL_*` variables: address, namespace, TLS, API key, profile. */
  readonly variables: Readonly<Record<string, string>>;
  /** Made for the namespace: `namespaceOf(variables)`. */
  readonly dataConverter?: DataConverter;
  /** Shown in histories: which process did it. */
  readonly identity?: string;
}

export interface TemporalClient {
  readonly client: Client;
  readonly namespace: string;
  close(): Promise<void>;
}

const DEFAULT_NAMESPACE = 'default';

/** The namespace that `connectTemporal` will use: the payload codec binds every payload to it. */
export function namespaceOf(variables: Readonly<Record<string, string>>): string {
  return load(variables).namespace ?? DEFAULT_NAMESPACE;
}

/** Connects at the first call, not now: a gateway must accept webhooks while Temporal is down. */
export function connectTemporal({ variables, dataConverter, identity }: ConnectOptions): TemporalClient {
  const config = load(variables);
  const namespace = config.namespace ?? DEFAULT_NAMESPACE;
  const retries = createRetries();
  const connection = Connection.lazy({ ...config.connectionOptions, interceptors: retries.interceptors });
  const client = new Client({
    connection,
    namespace,
    ...(dataConverter === undefined ? {} : { dataConverter }),
    ...(identity === undefined ? {} : { identity }),
  });
  return {
    client,
    namespace,
    async close() {
      await retries.end();
      await connection.close();
    },
  };
}

function load(variables: Readonly<Record<string, string>>) {
  return loadClientConnectConfig({
    overrideEnvVars: { ...variables },
    ...(variables['TEMPORAL_PROFILE'] === undefined ? {} : { profile: variables['TEMPORAL_PROFILE'] }),
  });
}

/**
 * The client's own retries, but so that a connection can be closed while Temporal is down: a retry that fires on a
 * closed channel throws inside a timer, where it cannot be caught, and ends the process.
 */
interface Retries {
  readonly interceptors: NonNullable<ConnectionOptions['interceptors']>;
  /** No further retry is begun; resolves when none is waiting. Then the connection may be closed. */
  end(): Promise<void>;
}

const LONGEST_PAUSE_MS = 1_000;
const FIRED_AFTER_MS = 20;

function createRetries(): Retries {
  const defaults = defaultGrpcRetryOptions();
  let ended = false;
  let lastFiresAtMs = 0;
  const interceptor = makeGrpcRetryInterceptor({
    retryableDecider: (attempt, status) => !ended && defaults.retryableDecider(attempt, status),
    delayFunction(attempt, status) {
      const delayMs = Math.min(LONGEST_PAUSE_MS, defaults.delayFunction(attempt, status));
      lastFiresAtMs = Math.max(lastFiresAtMs, performance.now() + delayMs + FIRED_AFTER_MS);
      return delayMs;
    },
  });
  return {
    interceptors: [interceptor],
    async end() {
      ended = true;
      // Timers count from when the event loop last read the clock, so on a busy machine one may fire early.
      for (let leftMs = 1; leftMs > 0; leftMs = lastFiresAtMs - performance.now()) await sleep(leftMs);
      // If the retry is due in this very turn of the loop, it fires before the turn ends.
      await turnOfLoop();
    },
  };
}

/** The server, or the store, cannot be reached at all: no other request would succeed now either. */
export function isUnreachable(error: unknown): boolean {
  return error instanceof StoreUnavailableError || grpcCodeOf(error) === UNAVAILABLE;
}

const UNAVAILABLE = 14;

/** gRPC codes that blame the one request; all others (unavailable, deadline, exhausted, …) are about the server. */
const INVALID_ARGUMENT = 3;
const NOT_FOUND = 5;
const PERMISSION_DENIED = 7;
const FAILED_PRECONDITION = 9;
const OUT_OF_RANGE = 11;
const OF_THE_REQUEST = new Set([INVALID_ARGUMENT, NOT_FOUND, PERMISSION_DENIED, FAILED_PRECONDITION, OUT_OF_RANGE]);

/** Whether others' requests may fail, too: a deadline or a busy server may be about the one flow, or about all. */
export function isOutage(error: unknown): boolean {
  if (error instanceof StoreUnavailableError) return true;
  const code = grpcCodeOf(error);
  return code !== undefined && !OF_THE_REQUEST.has(code);
}

function grpcCodeOf(error: unknown): number | undefined {
  const cause = error instanceof Error && isGrpcServiceError(error.cause) ? error.cause : error;
  return isGrpcServiceError(cause) ? cause.code : undefined;
}
