import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startDevServer, type DevServer } from '../../src/temporal/dev-server.js';
import { findServerExecutable } from '../../src/temporal/find-server.js';
import { timeSkippingServerPath } from '../../src/temporal/test-server.js';
import { bundleWorkflows } from '../../src/temporal/workflow-bundle.js';
import { startTestCluster, type TestCluster } from './postgres/test-cluster.js';

export interface TestServersOptions {
  /** The folder of package.json. */
  root: string;
  /** The bundle in dist/, where that was built from the present sources, as `npm test` sees to. */
  freshBundle: string | undefined;
}

const log = (line: string): void => void process.stderr.write(`${line}\n`);

let folder: string | undefined;
let server: DevServer | undefined;
let cluster: TestCluster | undefined;

/**
 * Starts what all tests share, once, and tells them by environment variables, which jest hands to its workers:
 * `TEST_TEMPORAL_ADDRESS`, `TEST_WORKFLOW_BUNDLE`, `TEST_TIME_SKIPPING_SERVER` (a path, or empty), `TEST_TEMPORAL_CLI`,
 * `TEST_DATABASE_URL` (or empty).
 */
export async function startTestServers(options: TestServersOptions): Promise<void> {
  forgetTheUsersServers();
  folder = await mkdtemp(join(tmpdir(), 'towline-test-'));
  const executable = await findServerExecutable({ env: process.env, log });
  const [devServer, bundle, timeSkippingServer, postgres] = await Promise.all([
    startDevServer({
      executable: executable.path,
      home: folder,
      port: 0,
      uiPort: false,
      searchAttributes: { TowlineState: 'Keyword' },
      log,
    }),
    workflowBundle(options, folder),
    timeSkippingServerPath({ env: process.env, log }),
    startTestCluster(process.env, log),
  ]);
  server = devServer;
  cluster = postgres;
  Object.assign(process.env, {
    TEST_TEMPORAL_ADDRESS: devServer.address,
    TEST_TEMPORAL_CLI: executable.path,
    TEST_WORKFLOW_BUNDLE: bundle,
    TEST_TIME_SKIPPING_SERVER: timeSkippingServer ?? '',
    TEST_DATABASE_URL: postgres?.url ?? '',
  });
}

/** An interrupted jest does not come here: the server then ends by itself, since it watches for our end. */
export async function stopTestServers(): Promise<void> {
  await Promise.all([server?.stop(), cluster?.stop()]);
  if (folder) await rm(folder, { recursive: true, force: true });
}

/** Who has TEMPORAL_ADDRESS, a profile or a database set for work must not find our tests' flows there. */
function forgetTheUsersServers(): void {
  for (const name of Object.keys(process.env)) {
    if (name.startsWith('TEMPORAL_') && name !== 'TEMPORAL_CLI_PATH') delete process.env[name];
    if (name === 'DATABASE_URL' || name.startsWith('PG')) delete process.env[name];
  }
}

/** Empty while there are no workflows. */
async function workflowBundle({ root, freshBundle }: TestServersOptions, folder: string): Promise<string> {
  if (freshBundle) return freshBundle;
  const workflowsPath = join(root, 'workflows', 'index.ts');
  if (!existsSync(workflowsPath)) return '';
  return (await bundleWorkflows(workflowsPath, join(folder, 'workflow-bundle.js'))).codePath;
}
