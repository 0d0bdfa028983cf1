import { access, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { Connection } from '@temporalio/client';
import { buildPrograms, pinnedVersion, type Program } from '../../src/dev-server/build-programs.js';
import { ensureCacheFolder } from '../../src/dev-server/download-server.js';
import { withFileLock } from '../../src/dev-server/file-lock.js';
import { anyFreePort, nextFreePort } from '../../src/dev-server/free-port.js';
import { startGuarded, type GuardedProcess } from '../../src/dev-server/guarded-process.js';
import { lastLines, runCommand } from '../../src/dev-server/run-command.js';
import { openNamespace } from '../harness/namespace.js';
import { until } from '../harness/until.js';

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
  readonly log: (line: string) => void;
}

/** Fixed for ever once a cluster has flows. Production takes 512 or more; one machine has fewer flows than that. */
const HISTORY_SHARDS = 128;
/** Temporal keeps a port in a signed column of 16 bits: those that the system gives out are too high for it. */
const FIRST_PORT = 17_233;
const READY_WITHIN_MS = 90_000;
const PROGRAMS = {
  server: 'go.temporal.io/server/cmd/server',
  sqlTool: 'go.temporal.io/server/cmd/tools/sql',
  ui: 'github.com/temporalio/ui-server/v2/cmd/server',
} as const;

/** @throws Error that says what is missing, or shows the last log lines of the part that did not start */
export async function startTemporalCluster(options: TemporalClusterOptions): Promise<TemporalCluster> {
  const { folder, log } = options;
  await mkdir(folder, { recursive: true });
  const programs = await findPrograms(process.env, log);
  const database = new URL(options.databaseUrl);
  await Promise.all([
    makeDatabase(programs.sqlTool, database, 'temporal', 'temporal'),
    makeDatabase(programs.sqlTool, database, 'temporal_visibility', 'visibility'),
  ]);

  const { config, port } = await serverConfig(database, folder);
  const configFile = join(folder, 'server.yaml');
  // It holds the password of the database.
  await writeFile(configFile, stringify(config), { mode: 0o600 });
  const logFile = join(folder, 'temporal.log');
  const server = await startGuarded(
    programs.server,
    ['--config-file', configFile, '--allow-no-auth', 'start'],
    logFile,
  );
  const address = `127.0.0.1:${port}`;
  try {
    await untilReady(address, server, logFile);
    const ui = await startUi(programs.ui, address, options);
    return {
      address,
      uiUrl: ui.url,
      pid: server.pid,
      stop: async () => {
        await ui.process.stop();
        await server.stop();
      },
    };
  } catch (error) {
    await server.stop();
    throw error;
  }
}

/** In the cache, or built there: minutes, once per machine. */
async function findPrograms(
  env: NodeJS.ProcessEnv,
  log: (line: string) => void,
): Promise<Record<keyof typeof PROGRAMS, string>> {
  const cache = await ensureCacheFolder(env);
  const [version, uiVersion] = await Promise.all([
    pinnedVersion('go.temporal.io/server'),
    pinnedVersion('github.com/temporalio/ui-server/v2'),
  ]);
  const paths = {
    server: join(cache, `temporal-server-${version}`),
    sqlTool: join(cache, `temporal-sql-tool-${version}`),
    ui: join(cache, `temporal-ui-${uiVersion}`),
  };
  await withFileLock(
    join(cache, 'temporal.lock'),
    async () => {
      const all = Object.entries(PROGRAMS).map(([name, program]) => ({
        program,
        target: paths[name as keyof typeof PROGRAMS],
      }));
      const missing: Program[] = [];
      for (const one of all) if (!(await exists(one.target))) missing.push(one);
      if (missing.length === 0) return;
      const whyNot = await buildPrograms(env, log, 'a Temporal server for Postgres', missing);
      if (whyNot !== undefined) throw new Error(`No Temporal server for Postgres: install Go. ${whyNot}`);
    },
    { onWait: () => log('another process is building Temporal: waiting for it') },
  );
  return paths;
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

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

async function serverConfig(database: URL, folder: string): Promise<{ config: object; port: number }> {
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
      global: { membership: { maxJoinDuration: '30s', broadcastAddress: '127.0.0.1' } },
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

/** Eager starts and activities save a round trip each, as on our dev server. */
const DYNAMIC_CONFIG = {
  'system.enableActivityEagerExecution': [{ value: true }],
  'system.enableEagerWorkflowStart': [{ value: true }],
};

/** Until the namespace `default` can be used: with its search attributes. */
async function untilReady(address: string, server: GuardedProcess, logFile: string): Promise<void> {
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
      connection = await Connection.connect({ address, connectTimeout: '1s' }).catch(() => undefined);
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

async function startUi(
  program: string,
  address: string,
  { folder, codecEndpoint }: TemporalClusterOptions,
): Promise<{ readonly url: string; readonly process: GuardedProcess }> {
  const port = await anyFreePort();
  const config = {
    temporalGrpcAddress: address,
    host: '127.0.0.1',
    port,
    enableUi: true,
    defaultNamespace: 'default',
    disableNewsFetch: true,
    cors: { cookieInsecure: true, allowOrigins: [`http://127.0.0.1:${port}`] },
    ...(codecEndpoint === undefined ? {} : { codec: { endpoint: codecEndpoint } }),
  };
  await mkdir(join(folder, 'ui'), { recursive: true });
  await writeFile(join(folder, 'ui', 'ui.yaml'), stringify(config));
  const args = ['--root', folder, '--config', 'ui', '--env', 'ui', 'start'];
  return { url: `http://127.0.0.1:${port}`, process: await startGuarded(program, args, join(folder, 'ui.log')) };
}
