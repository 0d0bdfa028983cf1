import { access, constants, readdir, rm } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { buildPrograms, pinnedVersion } from './build-programs.js';
import { type Environment, type Log, runCommand } from './run-command.js';
import { cacheFolder, ensureCacheFolder, downloadServer } from './download-server.js';
import { withFileLock } from './file-lock.js';

/** A running server that the user named, or a binary that can start one, and where it was found. */
export type FoundServer =
  | { kind: 'address'; address: string }
  | { kind: 'executable'; path: string; from: 'TEMPORAL_CLI_PATH' | 'PATH' | 'cache' | 'download' | 'build' };

export type ServerExecutable = Extract<FoundServer, { kind: 'executable' }>;

export interface FindServerOptions {
  env: Environment;
  log: Log;
}

/** Thrown if there is no Temporal server for this machine; the message says what to do. */
export class NoTemporalServerError extends Error {
  override readonly name = 'NoTemporalServerError';
  readonly code: 'no-cli' | 'no-server' | 'no-source' | 'not-executable' | 'too-old';

  constructor(code: NoTemporalServerError['code'], sentence: string) {
    super(sentence);
    this.code = code;
  }
}

/**
 * Finds a Temporal server: `TEMPORAL_ADDRESS`, then the first result of {@link findServerExecutable}.
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
    throw new NoTemporalServerError(
      'not-executable',
      `TEMPORAL_CLI_PATH is ${path}, which is not an executable file. ${remedy}`,
    );
  }
  const version = await serverVersion(path);
  if (!version)
    throw new NoTemporalServerError('no-cli', `TEMPORAL_CLI_PATH is ${path}, which is no Temporal CLI. ${remedy}`);
  if (!isUsable(version)) {
    throw new NoTemporalServerError(
      'too-old',
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
  log('it could not be downloaded: building from source instead');
  const whyNot = await buildPrograms(env, log, 'the Temporal dev server', [
    { program: 'github.com/temporalio/cli/cmd/temporal', target: path },
  ]);
  if (whyNot === undefined) return { kind: 'executable', path, from: 'build' };
  throw new NoTemporalServerError(
    'no-server',
    'No Temporal server: set TEMPORAL_ADDRESS to a running one, or install the Temporal CLI ' +
      `(https://docs.temporal.io/cli), or install Go. It could not be downloaded, and ${whyNot}`,
  );
}

/** The name carries the version, so that a new pin in tools/temporal/go.mod is not answered by an old binary. */
async function cachedPath(env: Environment): Promise<string> {
  const version = await pinnedCliVersion().catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    throw new NoTemporalServerError(
      'no-source',
      'This installation of Towline has no Temporal of its own: only a clone of its repository can download or build one. ' +
        'Install the Temporal CLI (https://docs.temporal.io/cli), or set TEMPORAL_ADDRESS to a running server.',
    );
  });
  return join(cacheFolder(env), executableName(`temporal-${version}`));
}

/** A killed download leaves its folder. We hold the lock, so none is in use. */
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

/** The first server in which update-with-start, which the proxy uses for starts, is on by default. */
export const oldestUsableServer = '1.28.0';

export const pinnedCliVersion = (): Promise<string> => pinnedVersion('github.com/temporalio/cli');

/**
 * The server version inside a `temporal` binary; undefined if it is not a Temporal CLI or does not run here. The CLI's
 * own version does not help: a build from source calls itself 0.0.0-DEV.
 */
async function serverVersion(path: string): Promise<string | undefined> {
  const { code, output } = await runCommand(path, ['--version'], { signal: AbortSignal.timeout(10_000) });
  return code === 0 ? /^temporal version .*\bServer v?(\d+\.\d+\.\d+)/m.exec(output)?.[1] : undefined;
}

export function isUsable(version: string): boolean {
  return version.localeCompare(oldestUsableServer, 'en', { numeric: true }) >= 0;
}
