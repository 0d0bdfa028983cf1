import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { startDevServer, type DevServer } from '../../src/dev-server/dev-server.js';
import { findServerExecutable } from '../../src/dev-server/find-server.js';
import { packageRoot } from '../../src/package-root.js';
import { bundleWorkflows } from '../../src/temporal/workflow-bundle.js';
import { startTemporalCluster } from '../cluster/temporal-cluster.js';
import { startTestCluster, type TestCluster } from './postgres/test-cluster.js';
import { SEARCH_ATTRIBUTES } from '../../src/protocol/vocabulary.js';

const log = (line: string): void => void process.stderr.write(`${line}\n`);

/** The servers of this run. */
interface Servers {
  postgres?: Promise<TestCluster | undefined>;
  temporal?: Promise<Pick<DevServer, 'address' | 'stop'>>;
  bundle?: Promise<string>;
  folder?: Promise<string>;
}

/** The projects of one run share them: the first that needs one starts it. Each project loads this module anew. */
const shared = globalThis as { towlineTestServers?: Servers };
const run = (shared.towlineTestServers ??= {});

/**
 * Passes its address to the tests in `TEST_DATABASE_URL` (empty if Postgres is not installed), which all workers
 * inherit.
 */
async function startPostgres(): Promise<void> {
  forgetUsersServers();
  run.postgres ??= startTestCluster(process.env, log);
  process.env['TEST_DATABASE_URL'] = (await run.postgres)?.url ?? '';
}

/**
 * Starts Postgres and what Temporal's tests share, and passes their addresses in environment variables:
 * `TEST_TEMPORAL_ADDRESS`, `TEST_WORKFLOW_BUNDLE`, `TEST_TEMPORAL_CLI`.
 */
export async function startServers(): Promise<void> {
  forgetUsersServers();
  run.temporal ??= startTemporal();
  await Promise.all([startPostgres(), run.temporal]);
}

/**
 * The same on a real Temporal server, which keeps its state in that Postgres; the stacks' stores are databases there, too.
 * @throws Error if there is no Postgres
 */
export async function startClusterServers(): Promise<void> {
  await startPostgres();
  const databaseUrl = process.env['TEST_DATABASE_URL'];
  if (!databaseUrl) throw new Error('A real Temporal server needs a Postgres. Install the package "postgresql".');
  const folder = await scratchFolder();
  run.temporal ??= startTemporalCluster({ databaseUrl, folder: join(folder, 'temporal'), log });
  const [cluster, { path: cli }, bundle] = await Promise.all([
    run.temporal,
    findServerExecutable({ env: process.env, log }),
    bundleOnce(),
  ]);
  Object.assign(process.env, {
    TEST_TEMPORAL_ADDRESS: cluster.address,
    TEST_TEMPORAL_CLI: cli,
    TEST_WORKFLOW_BUNDLE: bundle,
    TEST_STORE: 'postgres',
  });
}

async function startTemporal(): Promise<DevServer> {
  const executable = await findServerExecutable({ env: process.env, log });
  const [devServer, bundle] = await Promise.all([
    startDevServer({
      executable: executable.path,
      home: await scratchFolder(),
      port: 0,
      uiPort: false,
      searchAttributes: SEARCH_ATTRIBUTES,
      log,
    }),
    bundleOnce(),
  ]);
  Object.assign(process.env, {
    TEST_TEMPORAL_ADDRESS: devServer.address,
    TEST_TEMPORAL_CLI: executable.path,
    TEST_WORKFLOW_BUNDLE: bundle,
  });
  return devServer;
}

/** Passes the path of the workflows' bundle to the tests in `TEST_WORKFLOW_BUNDLE`. */
export async function prepareBundle(): Promise<void> {
  process.env['TEST_WORKFLOW_BUNDLE'] = await bundleOnce();
}

/**
 * Every project with a setup ends here: the first one stops everything, once all tests are done. An interrupted run does
 * not: the servers then end by themselves, since they watch for our end.
 */
export async function stopTestServers(): Promise<void> {
  const { temporal, postgres, folder } = run;
  delete run.temporal;
  delete run.postgres;
  delete run.folder;
  // Temporal before the Postgres that it may use.
  await (await temporal)?.stop();
  await (await postgres)?.stop();
  if (folder) await rm(await folder, { recursive: true, force: true });
}

/** A user with TEMPORAL_ADDRESS, a profile or a database for work must not find our tests' flows there. */
function forgetUsersServers(): void {
  for (const name of Object.keys(process.env)) {
    if (name.startsWith('TEMPORAL_') && name !== 'TEMPORAL_CLI_PATH') delete process.env[name];
    if (name === 'DATABASE_URL' || name.startsWith('PG')) delete process.env[name];
  }
}

function scratchFolder(): Promise<string> {
  return (run.folder ??= mkdtemp(join(tmpdir(), 'towline-test-')));
}

/**
 * The bundle in dist/, if that was built from the current sources, as `npm test` ensures; without its source map, which each
 * worker would parse and pass to its workflow thread, for 0.1 s of CPU time.
 */
function bundleOnce(): Promise<string> {
  return (run.bundle ??= (async () => {
    const target = join(await scratchFolder(), 'workflow-bundle.js');
    const code = await readFile(await bundlePath(), 'utf8');
    const noMap = Buffer.from('{"version":3,"file":"workflow-bundle.js","sources":[],"names":[],"mappings":""}');
    const map = '//# sourceMappingURL=data:';
    await writeFile(
      target,
      `${code.slice(0, code.lastIndexOf(map))}${map}application/json;base64,${noMap.toString('base64')}`,
    );
    return target;
  })());
}

async function bundlePath(): Promise<string> {
  const built = join(packageRoot(), 'dist', 'workflow-bundle.js');
  const tool = pathToFileURL(join(packageRoot(), 'tools', 'build.mjs')).href;
  const { isBuilt } = (await import(tool)) as { isBuilt: (root: string) => boolean };
  if (existsSync(built) && isBuilt(packageRoot())) return built;
  const workflowsPath = join(packageRoot(), 'workflows', 'index.ts');
  return (await bundleWorkflows(workflowsPath, join(await scratchFolder(), 'whole-bundle.js'))).codePath;
}
