import { createRequire } from 'node:module';
import { mkdtemp, readdir, rename, rm, stat, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { homedir } from 'node:os';
import { packageRoot } from '../package-root.js';
import { type Environment, type Log, runCommand } from './run-command.js';

const firstByteWithinMs = 15_000;
const nextByteWithinMs = 30_000;

/**
 * Lets the SDK download the CLI to `target`. Fails within 15 seconds if the network refuses it, and is never cut off
 * while bytes still arrive.
 * @param from the module from which the SDK's package is found
 * @returns whether `target` exists now.
 */
export async function downloadServer(
  env: Environment,
  version: string,
  target: string,
  log: Log,
  from: string = join(packageRoot(), 'package.json'),
): Promise<boolean> {
  if (!isInstalled(from)) {
    log(
      `the optional package ${SDK_PACKAGE}, which downloads a Temporal dev server, is not installed: add it with npm`,
    );
    return false;
  }
  const folder = await mkdtemp(join(await ensureCacheFolder(env), 'download-'));
  const giveUp = new AbortController();
  log(`downloading the Temporal dev server ${version}`);
  try {
    const sdk = runCommand(process.execPath, ['--input-type=module', '--eval', downloadScript, version, folder], {
      cwd: packageRoot(),
      env,
      signal: giveUp.signal,
    });
    const file = await Promise.race([sdk.then(() => downloadedFile(folder)), arrival(folder, giveUp.signal)]);
    giveUp.abort();
    await sdk;
    if (file) await rename(file, target);
    return file !== undefined;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Nothing else of ours needs it, so it may be left out. */
const SDK_PACKAGE = '@temporalio/testing';

function isInstalled(from: string): boolean {
  try {
    createRequire(from).resolve(SDK_PACKAGE);
    return true;
  } catch {
    return false;
  }
}

// The SDK has no "download only": it starts what it downloaded and waits for it to answer. `--help` makes that start
// end by itself, so that no server is left behind, and a separate process keeps its messages and waits out of ours.
const downloadScript = `
  const [version, downloadDir] = process.argv.slice(1);
  const { TestWorkflowEnvironment } = await import('${SDK_PACKAGE}');
  await TestWorkflowEnvironment.createLocal({
    server: { executable: { type: 'cached-download', version: 'v' + version, downloadDir }, extraArgs: ['--help'] },
  });
`;

/** Resolves with the downloaded file, or with undefined as soon as nothing arrives any more. */
async function arrival(folder: string, signal: AbortSignal): Promise<string | undefined> {
  let size = 0;
  let patienceEndsAt = performance.now() + firstByteWithinMs;
  while (!signal.aborted && performance.now() < patienceEndsAt) {
    const file = await downloadedFile(folder);
    if (file) return file;
    const sizeNow = await sizeOf(folder);
    if (sizeNow > size) patienceEndsAt = performance.now() + nextByteWithinMs;
    size = sizeNow;
    await sleep(100);
  }
  return undefined;
}

/** The SDK writes `NAME.downloading`, and renames it when it is whole. */
async function downloadedFile(folder: string): Promise<string | undefined> {
  const name = (await readdir(folder)).find((name) => !name.endsWith('.downloading'));
  return name && join(folder, name);
}

async function sizeOf(folder: string): Promise<number> {
  const [name] = await readdir(folder);
  if (!name) return 0;
  const facts = await stat(join(folder, name)).catch(() => undefined);
  return facts?.size ?? 0;
}

/** Folder for built and downloaded programs, outside of any clone. @default ~/.cache/towline */
export function cacheFolder(env: Environment): string {
  return env.TOWLINE_CACHE || join(homedir(), '.cache', 'towline');
}

export async function ensureCacheFolder(env: Environment): Promise<string> {
  const folder = cacheFolder(env);
  try {
    await mkdir(folder, { recursive: true });
  } catch (cause) {
    throw new Error(`The cache folder ${folder} cannot be made. Set TOWLINE_CACHE to a folder that can be written.`, {
      cause,
    });
  }
  return folder;
}
