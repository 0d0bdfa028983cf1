import type { Client, Connection } from '@temporalio/client';
import type { Environment, Settings } from '../../config/index.js';
import { SEARCH_ATTRIBUTES } from '../../protocol/vocabulary.js';
import { startDevServer, type DevServer, type DevServerOptions } from '../../dev-server/dev-server.js';
import { findServer } from '../../dev-server/find-server.js';
import { ensureSearchAttributes } from '../../dev-server/search-attributes.js';
import { connectTemporal, type TemporalClient } from '../../temporal/connection.js';
import type { Child } from './child.js';
import { supervise } from './supervise.js';
import { atOwnServer, type Home } from '../wiring/load-settings.js';
import { CliError, EXIT } from '../exit-codes.js';
import { GRPC, grpcStatusOf } from '../../temporal/connection.js';
import { temporalAddress } from '../wiring/temporal.js';
import { callWithin } from '../../temporal/call-within.js';

/** The Temporal server that our processes use. */
interface TemporalServer {
  /** Replaces every `TEMPORAL_*` variable in the environment of our processes. */
  readonly environment: Environment;
  /** Undefined if the server is not ours. */
  pid(): number | undefined;
  /** Ends the server if it is ours. */
  stop(): Promise<void>;
}

export interface TemporalServerOptions {
  readonly env: Environment;
  readonly home: Home;
  /** URL at which the UI decodes payloads. */
  readonly codecEndpoint: string;
  readonly say: (line: string) => void;
}

/**
 * The server of `TEMPORAL_ADDRESS`, or our own dev server with its state in the home, which is kept running.
 * @throws NoTemporalServerError, DevServerError
 */
export async function provideTemporalServer(options: TemporalServerOptions): Promise<TemporalServer> {
  const { env, home, codecEndpoint, say } = options;
  const found = await findServer({ env, log: say });
  if (found.kind === 'address') return { environment: env, pid: () => undefined, stop: () => Promise.resolve() };

  const port = wantedPort(env, 'TEMPORAL_PORT');
  const uiPort = wantedPort(env, 'TEMPORAL_UI_PORT');
  const fixed = {
    ...(port === undefined ? {} : { port }),
    ...(uiPort === undefined ? {} : { uiPort }),
    executable: found.path,
    home: home.logs,
    dbFile: home.temporal,
    searchAttributes: SEARCH_ATTRIBUTES,
    codecEndpoint,
    log: say,
  };
  let server: DevServer | undefined;
  const supervised = supervise({
    name: 'Temporal server',
    // A restart keeps the ports, since all processes use them.
    start: () => startServer({ ...fixed, ...(server && portsOf(server)) }, (started) => (server = started)),
    say,
  });
  await supervised.untilReady();
  return {
    environment: atOwnServer(env, portsOf(server as DevServer)),
    pid: () => supervised.pid(),
    stop: () => supervised.stop(),
  };
}

function startServer(options: DevServerOptions, onStarted: (server: DevServer) => void): Child {
  let pid = 0;
  const starting = startDevServer(options).then((server) => {
    pid = server.pid;
    onStarted(server);
    return server;
  });
  const stop = () =>
    starting.then(
      (server) => server.stop(),
      () => undefined,
    );
  return {
    get pid() {
      return pid;
    },
    ready: starting.then(() => undefined),
    ended: starting.then(
      (server) => server.ended,
      () => 1,
    ),
    stop,
    kill: () => void stop(),
  };
}

const portsOf = ({ address, uiUrl }: DevServer) => ({
  port: portIn(address),
  ...(uiUrl === undefined ? {} : { uiPort: portIn(uiUrl) }),
});

function portIn(address: string): number {
  return Number(address.slice(address.lastIndexOf(':') + 1));
}

/** @throws CliError */
function wantedPort(env: Environment, name: 'TEMPORAL_PORT' | 'TEMPORAL_UI_PORT'): number | undefined {
  const text = env[name];
  if (!text) return undefined;
  const port = Number(text);
  if (Number.isInteger(port) && port > 0 && port <= 65_535) return port;
  throw new CliError(`${name} must be a port number from 1 to 65535.`);
}

const WITHIN_MS = 15_000;

/**
 * Connects to the server that our processes will use, and registers the search attributes of flows.
 * @throws CliError if it cannot be reached
 */
export async function prepareTemporal(
  settings: Pick<Settings, 'temporal'>,
  say: (line: string) => void,
): Promise<TemporalClient> {
  const temporal = connectTemporal({ variables: settings.temporal, identity: 'towline-up' });
  const { client, namespace } = temporal;
  try {
    await callWithin(client, WITHIN_MS, () => client.workflowService.describeNamespace({ namespace }));
    await registerAttributes(client, namespace, say);
    return temporal;
  } catch (error) {
    await temporal.close();
    throw explained(error, temporalAddress(settings), namespace);
  }
}

/** Some servers do not allow it over this connection: there an operator does it once. */
async function registerAttributes(client: Client, namespace: string, say: (line: string) => void): Promise<void> {
  try {
    await ensureSearchAttributes(client.connection as Connection, namespace, SEARCH_ATTRIBUTES);
  } catch (error) {
    const status = grpcStatusOf(error);
    if (status !== GRPC.permissionDenied && status !== GRPC.unimplemented) throw error;
    const names = Object.entries(SEARCH_ATTRIBUTES).map(([name, type]) => `${name} (${type})`);
    say(`the search attribute ${names.join(', ')} may be missing in the namespace ${namespace}: register it`);
  }
}

function explained(error: unknown, address: string, namespace: string): CliError {
  if (grpcStatusOf(error) === GRPC.notFound) {
    return new CliError(`Temporal at ${address} has no namespace ${namespace}: make it, or set TEMPORAL_NAMESPACE.`);
  }
  return new CliError(
    `Temporal at ${address} cannot be reached: start it, or unset TEMPORAL_ADDRESS.`,
    EXIT.unreachable,
  );
}
