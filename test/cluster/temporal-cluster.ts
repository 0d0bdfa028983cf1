import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { Connection, type ConnectionOptions } from '@temporalio/client';
import { nextFreePort } from '../../src/dev-server/free-port.js';
import { startGuarded, type GuardedProcess } from '../../src/dev-server/guarded-process.js';
import { lastLines, runCommand } from '../../src/dev-server/run-command.js';
import { openNamespace } from '../harness/namespace.js';
import { until } from '../harness/until.js';
import { goPrograms } from '../setup/go-programs.js';
import { startTemporalUi } from './temporal-ui.js';

/** A Temporal server as in production: its four services, on Postgres. Here in one process. */
export interface TemporalCluster {
  /** For `TEMPORAL_ADDRESS`. */
  readonly address: string;
  readonly uiUrl: string;
  readonly pid: number;
  stop(): Promise<void>;
}

export interface TemporalClusterOptions {
  /** Of a Postgres whose user may create databases. */
  readonly databaseUrl: string;
  /** For configuration and logs. Made when missing. */
  readonly folder: string;
  /** URL at which its UI decodes payloads. */
  readonly codecEndpoint?: string;
  /** Its frontend then takes only this client's certificate. @default plaintext */
  readonly mtls?: Mtls;
  readonly log: (line: string) => void;
}

/** PEM. */
export interface Mtls {
  /** For the name "localhost". */
  readonly server: { readonly ca: string; readonly cert: string; readonly key: string };
  readonly client: { readonly cert: string; readonly key: string };
}

/** Fixed for ever once a cluster has flows. Production takes 512 or more; one machine has fewer flows than that. */
const HISTORY_SHARDS = 128;
/** Temporal keeps a port in a signed column of 16 bits: those that the system gives out are too high for it. */
const FIRST_PORT = 17_233;
const READY_WITHIN_MS = 90_000;

/** In the cache, or built there: minutes, once per machine. */
export const temporalPrograms = (log: (line: string) => void) =>
  goPrograms(
    'a Temporal server for Postgres, with its UI',
    'temporal',
    {
      'temporal-server': { program: 'go.temporal.io/server/cmd/server', of: 'go.temporal.io/server' },
      'temporal-sql-tool': { program: 'go.temporal.io/server/cmd/tools/sql', of: 'go.temporal.io/server' },
      'temporal-ui': {
        program: 'github.com/temporalio/ui-server/v2/cmd/server',
        of: 'github.com/temporalio/ui-server/v2',
      },
    },
    log,
  );

/** @throws Error that says what is missing, or shows the last log lines of the part that did not start */
export async function startTemporalCluster(options: TemporalClusterOptions): Promise<TemporalCluster> {
  const { folder, log, mtls } = options;
  await mkdir(folder, { recursive: true });
  const programs = await temporalPrograms(log);
  const database = new URL(options.databaseUrl);
  await Promise.all([
    makeDatabase(programs['temporal-sql-tool'], database, 'temporal', 'temporal'),
    makeDatabase(programs['temporal-sql-tool'], database, 'temporal_visibility', 'visibility'),
  ]);

  const { config, port } = await serverConfig(database, folder, mtls);
  const configFile = join(folder, 'server.yaml');
  // It holds the password of the database.
  await writeFile(configFile, stringify(config), { mode: 0o600 });
  const logFile = join(folder, 'temporal.log');
  const serverArgs = ['--config-file', configFile, '--allow-no-auth', 'start'];
  const server = await startGuarded(programs['temporal-server'], serverArgs, logFile);
  const address = `127.0.0.1:${port}`;
  try {
    await untilReady({ address, ...tlsOfClient(mtls) }, server, logFile);
    const codec = options.codecEndpoint === undefined ? {} : { codec: { endpoint: options.codecEndpoint } };
    const tls = mtls === undefined ? {} : { tls: tlsOfUi(mtls) };
    const ui = await startTemporalUi(programs['temporal-ui'], {
      address,
      folder,
      settings: () => ({ ...codec, ...tls }),
    });
    return {
      address,
      uiUrl: ui.url,
      pid: server.pid,
      stop: async () => {
        await ui.stop();
        await server.stop();
      },
    };
  } catch (error) {
    await server.stop();
    throw error;
  }
}

/** The tables are those that the tool of the same version brings along. */
async function makeDatabase(tool: string, database: URL, name: string, schema: string): Promise<void> {
  const env = {
    SQL_PLUGIN: 'postgres12',
    SQL_HOST: database.hostname,
    SQL_PORT: database.port,
    SQL_USER: database.username,
    SQL_PASSWORD: decodeURIComponent(database.password),
  };
  const steps = [
    ['--db', name, 'create-database'],
    ['--db', name, 'setup-schema', '--version', '0.0'],
    ['--db', name, 'update-schema', '--schema-name', `postgresql/v12/${schema}`],
  ];
  for (const args of steps) {
    const { code, output } = await runCommand(tool, args, { env });
    if (code !== 0) throw new Error(`temporal-sql-tool ${args.join(' ')} failed:\n${lastLines(output)}`);
  }
}

async function serverConfig(
  database: URL,
  folder: string,
  mtls: Mtls | undefined,
): Promise<{ config: object; port: number }> {
  const ports: number[] = [];
  while (ports.length < 9) ports.push(await nextFreePort(FIRST_PORT, ports));
  const [port = 0, httpPort] = ports;
  const service = (index: number, own: object = {}) => ({
    rpc: {
      grpcPort: index === 0 ? port : ports[2 * index],
      membershipPort: ports[2 * index + 1],
      bindOnLocalHost: true,
      ...own,
    },
  });
  const store = (databaseName: string, maxConns: number) => ({
    sql: {
      pluginName: 'postgres12',
      databaseName,
      connectAddr: database.host,
      connectProtocol: 'tcp',
      user: database.username,
      password: decodeURIComponent(database.password),
      maxConns,
      maxIdleConns: maxConns,
      maxConnLifetime: '1h',
    },
  });
  const dynamicConfig = join(folder, 'dynamic.yaml');
  await writeFile(dynamicConfig, stringify(DYNAMIC_CONFIG));
  return {
    port,
    config: {
      log: { stdout: true, level: 'warn' },
      persistence: {
        defaultStore: 'main',
        visibilityStore: 'visibility',
        numHistoryShards: HISTORY_SHARDS,
        datastores: { main: store('temporal', 20), visibility: store('temporal_visibility', 10) },
      },
      global: {
        membership: { maxJoinDuration: '30s', broadcastAddress: '127.0.0.1' },
        ...(mtls === undefined ? {} : { tls: tlsOfServer(mtls) }),
      },
      services: {
        // Its membership port is the last of the nine, since the second one is its HTTP port.
        frontend: service(0, { httpPort, membershipPort: ports[8] }),
        matching: service(1),
        history: service(2),
        worker: service(3),
      },
      clusterMetadata: {
        enableGlobalNamespace: false,
        failoverVersionIncrement: 10,
        masterClusterName: 'active',
        currentClusterName: 'active',
        clusterInformation: {
          active: { enabled: true, initialFailoverVersion: 1, rpcName: 'frontend', rpcAddress: `127.0.0.1:${port}` },
        },
      },
      dcRedirectionPolicy: { policy: 'noop' },
      archival: { history: { state: 'disabled' }, visibility: { state: 'disabled' } },
      namespaceDefaults: { archival: { history: { state: 'disabled' }, visibility: { state: 'disabled' } } },
      dynamicConfigClient: { filepath: dynamicConfig, pollInterval: '10s' },
    },
  };
}

const SERVER_NAME = 'localhost';
const base64 = (pem: string): string => Buffer.from(pem).toString('base64');
const keyPair = ({ cert, key }: Mtls['client']) => ({ certData: base64(cert), keyData: base64(key) });

/** The server's own worker is a client of its frontend. */
function tlsOfServer({ server, client }: Mtls): object {
  const asClient = { serverName: SERVER_NAME, rootCaData: [base64(server.ca)] };
  return {
    frontend: {
      server: { ...keyPair(server), requireClientAuth: true, clientCaData: [base64(client.cert)] },
      client: asClient,
    },
    systemWorker: { ...keyPair(client), client: asClient },
  };
}

const tlsOfUi = ({ server, client }: Mtls): object => ({
  ...keyPair(client),
  caData: base64(server.ca),
  serverName: SERVER_NAME,
  enableHostVerification: true,
});

function tlsOfClient(mtls: Mtls | undefined): Pick<ConnectionOptions, 'tls'> {
  if (mtls === undefined) return {};
  const { server, client } = mtls;
  const clientCertPair = { crt: Buffer.from(client.cert), key: Buffer.from(client.key) };
  return {
    tls: { serverNameOverride: SERVER_NAME, serverRootCACertificate: Buffer.from(server.ca), clientCertPair },
  };
}

/** Eager starts and activities save a round trip each, as on our dev server. */
const DYNAMIC_CONFIG = {
  'system.enableActivityEagerExecution': [{ value: true }],
  'system.enableEagerWorkflowStart': [{ value: true }],
};

/** Until the namespace `default` can be used: with its search attributes. */
async function untilReady(reach: ConnectionOptions, server: GuardedProcess, logFile: string): Promise<void> {
  let ended: number | NodeJS.Signals | undefined;
  void server.ended.then((how) => (ended = how));
  const failed = async (what: string) =>
    new Error(
      `The Temporal server ${what}. The end of its log, ${logFile}:\n${lastLines(await readFile(logFile, 'utf8'), 2)}`,
    );
  let connection: Connection | undefined;
  await until(
    'the Temporal server to answer',
    async () => {
      if (ended !== undefined) throw await failed(`ended at its start (${ended})`);
      connection = await Connection.connect({ ...reach, connectTimeout: '1s' }).catch(() => undefined);
      return connection !== undefined;
    },
    READY_WITHIN_MS,
  );
  try {
    await openNamespace(connection as Connection, 'default');
  } finally {
    await connection?.close();
  }
}
