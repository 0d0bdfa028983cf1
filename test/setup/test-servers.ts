import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startDevServer, type DevServer } from '../../src/dev-server/dev-server.js';
import { findServerExecutable } from '../../src/dev-server/find-server.js';
import { bundleWorkflows } from '../../src/temporal/workflow-bundle.js';
import { startTemporalCluster } from '../cluster/temporal-cluster.js';
import { startTestCluster, type TestCluster } from './postgres/test-cluster.js';
import { SEARCH_ATTRIBUTES } from '../../src/protocol/vocabulary.js';

export interface TestServersOptions {
  /** The folder of package.json. */
  root: string;
  /** The bundle in dist/, if that was built from the current sources, as `npm test` ensures. */
  freshBundle: string | undefined;
}

const log = (line: string): void => void process.stderr.write(`${line}\n`);

/** The projects of one run share them: the first that needs one starts it. */
let postgres: Promise<TestCluster | undefined> | undefined;
let servers: Promise<Pick<DevServer, 'address' | 'stop'>> | undefined;
let bundle: Promise<string> | undefined;
let folder: string | undefined;

/**
 * Passes its address to the tests in `TEST_DATABASE_URL` (empty if Postgres is not installed), which jest passes to its
 * workers.
 */
export async function startPostgres(): Promise<void> {
  forgetUsersServers();
  postgres ??= startTestCluster(process.env, log);
  process.env['TEST_DATABASE_URL'] = (await postgres)?.url ?? '';
}

/**
 * Starts Postgres and what Temporal's tests share, and passes their addresses in environment variables:
 * `TEST_TEMPORAL_ADDRESS`, `TEST_WORKFLOW_BUNDLE`, `TEST_TEMPORAL_CLI`.
 */
export async function startServers(options: TestServersOptions): Promise<void> {
  forgetUsersServers();
  servers ??= startTemporal(options);
  await Promise.all([startPostgres(), servers]);
}

/**
 * The same on a real Temporal server, which keeps its state in that Postgres; the stacks' stores are databases there, too.
 * @throws Error if there is no Postgres
 */
export async function startClusterServers(options: TestServersOptions): Promise<void> {
  await startPostgres();
  const databaseUrl = process.env['TEST_DATABASE_URL'];
  if (!databaseUrl) throw new Error('A real Temporal server needs a Postgres. Install the package "postgresql".');
  folder ??= await mkdtemp(join(tmpdir(), 'towline-test-'));
  servers ??= startTemporalCluster({ databaseUrl, folder: join(folder, 'temporal'), log });
  const [cluster, { path: cli }, bundle] = await Promise.all([
    servers,
    findServerExecutable({ env: process.env, log }),
    bundleOnce(options),
  ]);
  Object.assign(process.env, {
    TEST_TEMPORAL_ADDRESS: cluster.address,
    TEST_TEMPORAL_CLI: cli,
    TEST_WORKFLOW_BUNDLE: bundle,
    TEST_STORE: 'postgres',
  });
}

async function startTemporal(options: TestServersOptions): Promise<DevServer> {
  folder ??= await mkdtemp(join(tmpdir(), 'towline-test-'));
  const executable = await findServerExecutable({ env: process.env, log });
  const [devServer, bundle] = await Promise.all([
    startDevServer({
      executable: executable.path,
      home: folder,
      port: 0,
      uiPort: false,
      searchAttributes: SEARCH_ATTRIBUTES,
      log,
    }),
    bundleOnce(options),
  ]);
  Object.assign(process.env, {
    TEST_TEMPORAL_ADDRESS: devServer.address,
    TEST_TEMPORAL_CLI: executable.path,
    TEST_WORKFLOW_BUNDLE: bundle,
  });
  return devServer;
}

/** Passes the path of the workflows' bundle to the tests in `TEST_WORKFLOW_BUNDLE`. */
export async function prepareBundle(options: TestServersOptions): Promise<void> {
  process.env['TEST_WORKFLOW_BUNDLE'] = await bundleOnce(options);
}

/** An interrupted jest does not come here: the servers then end by themselves, since they watch for our end. */
export async function stopTestServers(): Promise<void> {
  const stopping: (Promise<{ stop(): Promise<unknown> } | undefined> | undefined)[] = [servers, postgres];
  servers = undefined;
  postgres = undefined;
  // Temporal before the Postgres that it may use.
  await (await stopping[0])?.stop();
  await Promise.all(stopping.slice(1).map(async (server) => (await server)?.stop()));
  if (folder) await rm(folder, { recursive: true, force: true });
}

/** A user with TEMPORAL_ADDRESS, a profile or a database for work must not find our tests' flows there. */
function forgetUsersServers(): void {
  for (const name of Object.keys(process.env)) {
    if (name.startsWith('TEMPORAL_') && name !== 'TEMPORAL_CLI_PATH') delete process.env[name];
    if (name === 'DATABASE_URL' || name.startsWith('PG')) delete process.env[name];
  }
}

function bundleOnce(options: TestServersOptions): Promise<string> {
  bundle ??= (async () => {
    folder ??= await mkdtemp(join(tmpdir(), 'towline-test-'));
    return workflowBundle(options, folder);
  })();
  return bundle;
}

/** Empty while there are no workflows. */
async function workflowBundle({ root, freshBundle }: TestServersOptions, folder: string): Promise<string> {
  if (freshBundle) return freshBundle;
  const workflowsPath = join(root, 'workflows', 'index.ts');
  if (!existsSync(workflowsPath)) return '';
  return (await bundleWorkflows(workflowsPath, join(folder, 'workflow-bundle.js'))).codePath;
}
