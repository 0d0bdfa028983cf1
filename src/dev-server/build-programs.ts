import { readFile, rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { packageRoot } from '../package-root.js';
import { ensureCacheFolder } from './download-server.js';
import { type Environment, type Log, lastLines, runCommand } from './run-command.js';

/** Folders of tools/ with a Go module that pins programs: the only places with their versions. */
export type GoModule = 'temporal' | 'helm';

const folderOf = (module: GoModule): string => join(packageRoot(), 'tools', module);

/** A program of such a module: its package, and its output file, which must lie in the cache. */
export interface Program {
  readonly program: string;
  readonly target: string;
}

/** The version of a dependency that such a module pins: `1.31.2`. */
export async function pinnedVersion(dependency: string, by: GoModule = 'temporal'): Promise<string> {
  const goMod = await readFile(join(folderOf(by), 'go.mod'), 'utf8');
  const escaped = dependency.replaceAll('.', '\\.');
  const version = new RegExp(`^\\s*${escaped} v(\\d+\\.\\d+\\.\\d+)\\b`, 'm').exec(goMod)?.[1];
  if (!version) throw new Error(`${folderOf(by)}/go.mod pins no version of ${dependency}.`);
  return version;
}

/**
 * Builds programs of such a module with Go. Its caller holds the lock `<module>.lock` of the cache.
 * @param what names all of them for the user: `the Temporal dev server`
 * @returns undefined when they are built, else why they could not be, as half a sentence.
 */
export async function buildPrograms(
  env: Environment,
  log: Log,
  what: string,
  programs: readonly Program[],
  by: GoModule = 'temporal',
): Promise<string | undefined> {
  const cache = await ensureCacheFolder(env);
  const go = await runCommand('go', ['version'], { env });
  if (go.code !== 0) return 'Go, which could build it, is not installed';

  // Go's caches grow to 3.4 GB for this, so they get a folder of their own that is deleted afterwards. A killed
  // build leaves it behind, and the next one continues from there.
  const workFolder = join(cache, `${by}-build`);
  const buildEnv: Environment = {
    ...env,
    CGO_ENABLED: '0',
    GOMODCACHE: join(workFolder, 'modules'),
    GOCACHE: join(workFolder, 'build'),
    GOFLAGS: '-modcacherw',
    GOWORK: 'off',
  };
  const args = ['build', '-trimpath', '-buildvcs=false', '-mod=readonly', '-ldflags', '-s -w', '-o'];
  const whyNot = await withProgress(log, `building ${what}`, 'some minutes, once per machine', async () => {
    for (const { program, target } of programs) {
      const unfinished = join(workFolder, basename(target));
      const build = await runCommand('go', [...args, unfinished, program], { cwd: folderOf(by), env: buildEnv });
      if (build.code !== 0) return `building it with Go failed:\n${lastLines(build.output)}`;
      await rename(unfinished, target);
    }
    return undefined;
  });
  await rm(workFolder, { recursive: true, force: true });
  return whyNot;
}

const everyMs = 20_000;

/** Reports every twenty seconds how long `work` has been running, because silence for minutes looks like a hang. */
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
