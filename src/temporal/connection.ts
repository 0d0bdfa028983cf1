import { Client, Connection } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { createRetries } from './connection-retries.js';

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

/** Connects at the first call, not now: a gateway must take webhooks while Temporal is down. */
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
