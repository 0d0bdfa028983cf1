import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { packageRoot } from './package-root.js';
import { runCommand } from './run-command.js';

/** The first server in which update-with-start, which the proxy's starts are made of, is on by default. */
export const oldestUsableServer = '1.28.0';

/** The Go module that pins the CLI: the one place where its version is written. */
export const serverModuleFolder = join(packageRoot(), 'tools', 'temporal');

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
export async function serverVersion(path: string): Promise<string | undefined> {
  const { code, output } = await runCommand(path, ['--version'], { signal: AbortSignal.timeout(10_000) });
  return code === 0 ? /^temporal version .*\bServer v?(\d+\.\d+\.\d+)/m.exec(output)?.[1] : undefined;
}

export function isUsable(version: string): boolean {
  return version.localeCompare(oldestUsableServer, 'en', { numeric: true }) >= 0;
}
