import type { Socket } from 'node:net';
import { setImmediate as turnOfLoop, setTimeout as sleep } from 'node:timers/promises';
import { ChannelCredentials } from '@grpc/grpc-js';
import {
  Client,
  Connection,
  defaultGrpcRetryOptions,
  type ConnectionOptions,
  makeGrpcRetryInterceptor,
  isGrpcServiceError,
} from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import { StoreUnavailableError } from '../store/store-errors.js';
import { certificatesOf, followConnectConfig, readConnectConfig, type LiveOptions } from './connect-config.js';

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
  return readConnectConfig(variables).namespace ?? DEFAULT_NAMESPACE;
}

/**
 * Connects at the first call, not now: a gateway must accept webhooks while Temporal is down. Each request takes the API
 * key, and each TLS connection the certificates, that the files hold then.
 *
 * @throws TemporalSettingsError SecretFileError
 */
export function connectTemporal({ variables, dataConverter, identity }: ConnectOptions): TemporalClient {
  const { namespace = DEFAULT_NAMESPACE, options } = followConnectConfig(variables);
  const retries = createRetries();
  const { tls, apiKey, ...rest } = options();
  const secure = tls ? { credentials: new LiveTls(options), channelArgs: nameOverride(options) } : {};
  const connection = Connection.lazy({ ...rest, ...secure, interceptors: retries.interceptors });
  if (apiKey !== undefined) connection.setApiKey(() => options().apiKey ?? apiKey);
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

/** TLS with the certificates of the moment: the SDK's own would use those of the start for ever. */
class LiveTls extends ChannelCredentials {
  readonly #options: LiveOptions;

  constructor(options: LiveOptions) {
    super();
    this.#options = options;
  }

  override _isSecure(): boolean {
    return true;
  }

  override _equals(other: ChannelCredentials): boolean {
    return other === this;
  }

  override _createSecureConnector(...target: Parameters<ChannelCredentials['_createSecureConnector']>) {
    const current = () => {
      const { ca, cert, key } = certificatesOf(this.#options().tls ?? true);
      return ChannelCredentials.createSsl(ca, key, cert)._createSecureConnector(...target);
    };
    const first = current();
    return {
      connect: (socket: Socket) => current().connect(socket),
      waitForReady: () => first.waitForReady(),
      getCallCredentials: () => first.getCallCredentials(),
      destroy: () => first.destroy(),
    };
  }
}

/** The name in the server's certificate, if it is not that of the address. */
function nameOverride(options: LiveOptions): Readonly<Record<string, string>> {
  const { tls } = options();
  const name = typeof tls === 'object' ? tls?.serverNameOverride : undefined;
  return name == null ? {} : { 'grpc.ssl_target_name_override': name, 'grpc.default_authority': name };
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
      // A process that was not scheduled for a while may see that the time is over before its loop has fired what is due:
      // a timer that is set now fires in a turn that reads the clock again, and that turn fires all others, too.
      await sleep(1);
      await turnOfLoop();
    },
  };
}

/** gRPC's status codes that we distinguish. */
export const GRPC = {
  invalidArgument: 3,
  deadlineExceeded: 4,
  notFound: 5,
  alreadyExists: 6,
  permissionDenied: 7,
  resourceExhausted: 8,
  failedPrecondition: 9,
  outOfRange: 11,
  unimplemented: 12,
  unavailable: 14,
} as const;

/** The status code of an error of a Temporal call; undefined for any other error. */
export function grpcStatusOf(error: unknown): number | undefined {
  const cause = error instanceof Error && isGrpcServiceError(error.cause) ? error.cause : error;
  return isGrpcServiceError(cause) ? cause.code : undefined;
}

/** Of the two things that a server may not find, the namespace: its name is only in the details of the status. */
export function isNoNamespace(error: unknown): boolean {
  const cause = error instanceof Error && isGrpcServiceError(error.cause) ? error.cause : error;
  if (!isGrpcServiceError(cause) || grpcStatusOf(cause) !== GRPC.notFound) return false;
  return cause.metadata.get('grpc-status-details-bin').some((detail) => detail.includes('NamespaceNotFoundFailure'));
}

/** The server, or the store, cannot be reached at all: no other request would succeed now either. */
export function isUnreachable(error: unknown): boolean {
  return error instanceof StoreUnavailableError || grpcStatusOf(error) === GRPC.unavailable;
}

/** Codes that blame the one request; all others (unavailable, deadline, exhausted, …) are about the server. */
const OF_THE_REQUEST: readonly number[] = [
  GRPC.invalidArgument,
  GRPC.notFound,
  GRPC.permissionDenied,
  GRPC.failedPrecondition,
  GRPC.outOfRange,
];

/** Whether others' requests may fail, too: a deadline or a busy server may be about the one flow, or about all. */
export function isOutage(error: unknown): boolean {
  if (error instanceof StoreUnavailableError) return true;
  const status = grpcStatusOf(error);
  return status !== undefined && !OF_THE_REQUEST.includes(status);
}
