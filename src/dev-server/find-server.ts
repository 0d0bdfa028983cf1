import { access, constants, readdir, rm, rename, readFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { packageRoot } from '../package-root.js';
import { type Environment, type Log, lastLines, runCommand } from './run-command.js';
import { cacheFolder, ensureCacheFolder, downloadServer } from './download-server.js';
import { withFileLock } from './file-lock.js';

/** A running server that the user named, or a binary that can start one, and where that was found. */
export type FoundServer =
  | { kind: 'address'; address: string }
  | { kind: 'executable'; path: string; from: 'TEMPORAL_CLI_PATH' | 'PATH' | 'cache' | 'download' | 'build' };

export type ServerExecutable = Extract<FoundServer, { kind: 'executable' }>;

export interface FindServerOptions {
  env: Environment;
  log: Log;
}

/** Thrown when no Temporal server can be had on this machine; the message says what to do. */
export class NoTemporalServerError extends Error {
  override readonly name = 'NoTemporalServerError';
}

/**
 * Finds a Temporal server: `TEMPORAL_ADDRESS`, then whatever {@link findServerExecutable} finds.
 * @throws NoTemporalServerError
 */
export async function findServer({ env, log }: FindServerOptions): Promise<FoundServer> {
  if (env.TEMPORAL_ADDRESS) return { kind: 'address', address: env.TEMPORAL_ADDRESS };
  return findServerExecutable({ env, log });
}

/**
 * Finds a `temporal` binary: `TEMPORAL_CLI_PATH`, the PATH, our cache, the SDK's download, a build of tools/temporal.
 * @throws NoTemporalServerError
 */
export async function findServerExecutable({ env, log }: FindServerOptions): Promise<ServerExecutable> {
  if (env.TEMPORAL_CLI_PATH) return namedExecutable(env.TEMPORAL_CLI_PATH);
  return (await onThePath(env, log)) ?? (await inTheCache(env)) ?? (await fetched(env, log));
}

async function namedExecutable(path: string): Promise<ServerExecutable> {
  const remedy = 'Point it at a Temporal CLI, or unset it to let Towline find or build one.';
  if (!(await isExecutable(path))) {
    throw new NoTemporalServerError(`TEMPORAL_CLI_PATH is ${path}, which is not an executable file. ${remedy}`);
  }
  const version = await serverVersion(path);
  if (!version) throw new NoTemporalServerError(`TEMPORAL_CLI_PATH is ${path}, which is no Temporal CLI. ${remedy}`);
  if (!isUsable(version)) {
    throw new NoTemporalServerError(
      `TEMPORAL_CLI_PATH is ${path}, with server ${version}; Towline needs ${oldestUsableServer} or later. ${remedy}`,
    );
  }
  return { kind: 'executable', path, from: 'TEMPORAL_CLI_PATH' };
}

async function onThePath(env: Environment, log: Log): Promise<ServerExecutable | undefined> {
  const folders = (env.PATH ?? '').split(delimiter).filter(Boolean);
  for (const folder of folders) {
    const path = join(folder, executableName('temporal'));
    if (!(await isExecutable(path))) continue;
    const version = await serverVersion(path);
    if (version && isUsable(version)) return { kind: 'executable', path, from: 'PATH' };
    log(`${path} is ${version ? `server ${version}, older than ${oldestUsableServer}` : 'no Temporal CLI'}: not used`);
  }
  return undefined;
}

async function inTheCache(env: Environment): Promise<ServerExecutable | undefined> {
  const path = await cachedPath(env);
  return (await isExecutable(path)) ? { kind: 'executable', path, from: 'cache' } : undefined;
}

/** Downloads or builds, one process at a time: the others find the result in the cache. */
async function fetched(env: Environment, log: Log): Promise<ServerExecutable> {
  const path = await cachedPath(env);
  const lock = join(await ensureCacheFolder(env), 'temporal.lock');
  const onWait = () => log('another process is getting the Temporal dev server: waiting for it');
  return withFileLock(lock, () => downloadOrBuild(env, path, log), { onWait });
}

async function downloadOrBuild(env: Environment, path: string, log: Log): Promise<ServerExecutable> {
  const cached = await inTheCache(env);
  if (cached) return cached;
  await removeUnfinishedDownloads(env);
  const version = await pinnedCliVersion();
  if (await downloadServer(env, version, path, log)) return { kind: 'executable', path, from: 'download' };
  log('the download was refused: building from source instead');
  const whyNot = await buildServer(env, path, log);
  if (whyNot === undefined) return { kind: 'executable', path, from: 'build' };
  throw new NoTemporalServerError(
    'No Temporal server: set TEMPORAL_ADDRESS to a running one, or install the Temporal CLI ' +
      `(https://docs.temporal.io/cli), or install Go. It could not be downloaded, and ${whyNot}`,
  );
}

/** The name carries the version, so that a new pin in tools/temporal/go.mod is not answered by an old binary. */
async function cachedPath(env: Environment): Promise<string> {
  return join(cacheFolder(env), executableName(`temporal-${await pinnedCliVersion()}`));
}

/** A download that was killed leaves its folder. We hold the lock, so none is in use. */
async function removeUnfinishedDownloads(env: Environment): Promise<void> {
  const names = await readdir(cacheFolder(env));
  const unfinished = names.filter((name) => name.startsWith('download-'));
  await Promise.all(unfinished.map((name) => rm(join(cacheFolder(env), name), { recursive: true, force: true })));
}

function executableName(name: string): string {
  return process.platform === 'win32' ? `${name}.exe` : name;
}

async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

/**
 * Builds the pinned Temporal CLI to `target`, which must lie in the cache.
 * @returns undefined when it is built, else why it could not be, as half a sentence.
 */
async function buildServer(env: Environment, target: string, log: Log): Promise<string | undefined> {
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

const everyMs = 20_000;

/** Says every twenty seconds how long `work` has been going on, because silence for minutes looks like a hang. */
async function withProgress<T>(log: Log, what: string, hint: string, work: () => Promise<T>): Promise<T> {
  const startedAt = performance.now();
  log(`${what} (${hint})`);
  const timer = setInterval(() => log(`${what}: ${elapsed(performance.now() - startedAt)}, ${hint}`), everyMs);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

/** `4s`, `1m20s`. */
function elapsed(ms: number): string {
  const seconds = Math.round(ms / 1000);
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${String(seconds % 60).padStart(2, '0')}s`;
}

/** The first server in which update-with-start, which the proxy's starts are made of, is on by default. */
export const oldestUsableServer = '1.28.0';

/** The Go module that pins the CLI: the one place where its version is written. */
const serverModuleFolder = join(packageRoot(), 'tools', 'temporal');

export async function pinnedCliVersion(): Promise<string> {
  const goMod = await readFile(join(serverModuleFolder, 'go.mod'), 'utf8');
  const version = /github\.com\/temporalio\/cli v(\d+\.\d+\.\d+)\b/.exec(goMod)?.[1];
  if (!version) throw new Error(`${serverModuleFolder}/go.mod pins no version of github.com/temporalio/cli.`);
  return version;
}

/**
 * The server version inside a `temporal` binary; undefined when it is no Temporal CLI or does not run here.
 * The CLI's own version says nothing: one that was built from source calls itself 0.0.0-DEV.
 */
async function serverVersion(path: string): Promise<string | undefined> {
  const { code, output } = await runCommand(path, ['--version'], { signal: AbortSignal.timeout(10_000) });
  return code === 0 ? /^temporal version .*\bServer v?(\d+\.\d+\.\d+)/m.exec(output)?.[1] : undefined;
}

export function isUsable(version: string): boolean {
  return version.localeCompare(oldestUsableServer, 'en', { numeric: true }) >= 0;
}
