import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ensureCacheFolder } from './cache.js';
import { serverModuleFolder } from './cli-version.js';
import type { Environment, Log } from './environment.js';
import { withProgress } from './progress.js';
import { lastLines, runCommand } from './run-command.js';

/**
 * Builds the pinned Temporal CLI to `target`, which must lie in the cache.
 * @returns undefined when it is built, else why it could not be, as half a sentence.
 */
export async function buildServer(env: Environment, target: string, log: Log): Promise<string | undefined> {
  const cache = await ensureCacheFolder(env);
  const go = await runCommand('go', ['version'], { env });
  if (go.code !== 0) return 'Go, which could build it, is not installed';

  // Go's caches grow to 3.4 GB for this one build, so they get a folder of their own that is deleted after it. A build
  // that is killed leaves it behind, and the next one goes on from there.
  const workFolder = join(cache, 'temporal-build');
  const unfinished = join(workFolder, 'temporal');
  const buildEnv: Environment = {
    ...env,
    CGO_ENABLED: '0',
    GOMODCACHE: join(workFolder, 'modules'),
    GOCACHE: join(workFolder, 'build'),
    GOFLAGS: '-modcacherw',
    GOWORK: 'off',
  };
  const args = ['build', '-trimpath', '-buildvcs=false', '-mod=readonly', '-ldflags', '-s -w', '-o', unfinished];
  const build = await withProgress(
    log,
    'building the Temporal dev server',
    'usually 3 to 5 minutes, once per machine',
    () =>
      runCommand('go', [...args, 'github.com/temporalio/cli/cmd/temporal'], { cwd: serverModuleFolder, env: buildEnv }),
  );
  if (build.code === 0) await rename(unfinished, target);
  await rm(workFolder, { recursive: true, force: true });
  return build.code === 0 ? undefined : `building it with Go failed:\n${lastLines(build.output)}`;
}
