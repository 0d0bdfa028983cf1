import { access, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ensureCacheFolder } from './cache.js';
import type { Environment, Log } from './environment.js';
import { withFileLock } from './file-lock.js';
import { packageRoot } from './package-root.js';
import { withProgress } from './progress.js';
import { lastLines, runCommand } from './run-command.js';

const mainClass = 'io.temporal.testserver.TestServer';
/** Half a second less to start; the server is too short-lived for the optimizing compiler to pay off. */
const javaOptions = '-XX:TieredStopAtLevel=1 -XX:+UseSerialGC';

export interface TestServerOptions {
  env: Environment;
  log?: Log;
}

/**
 * An executable that starts Temporal's time-skipping test server, resolved by Maven once per machine.
 * @returns undefined without Java or Maven, or when Maven cannot resolve it: tests then use the dev server.
 */
export async function timeSkippingServerPath({ env, log = () => {} }: TestServerOptions): Promise<string | undefined> {
  // The wrapper is a shell script.
  if (process.platform === 'win32' || !(await runs('java', ['-version'], env))) return undefined;
  const pom = join(packageRoot(), 'tools', 'test-server', 'pom.xml');
  const pin = createHash('sha256')
    .update(await readFile(pom))
    .digest('hex')
    .slice(0, 12);
  const cache = await ensureCacheFolder(env);
  const folder = join(cache, `test-server-${pin}`);
  const wrapper = join(folder, 'temporal-test-server');
  if (await exists(wrapper)) return wrapper;
  return withFileLock(join(cache, 'test-server.lock'), async () => {
    if (await exists(wrapper)) return wrapper;
    if (!(await runs('mvn', ['-version'], env))) return undefined;
    return (await resolve(pom, folder, env, log)) ? wrapper : undefined;
  });
}

async function resolve(pom: string, folder: string, env: Environment, log: Log): Promise<boolean> {
  const unfinished = `${folder}.unfinished`;
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { recursive: true });
  const goal = ['dependency:copy-dependencies', '-DincludeScope=runtime', `-DoutputDirectory=${unfinished}`];
  const maven = await withProgress(log, "resolving Temporal's time-skipping test server", 'about 20 s, once', () =>
    runCommand('mvn', ['--quiet', '--batch-mode', '--file', pom, ...goal], { env }),
  );
  if (maven.code !== 0) {
    log(
      `Maven could not resolve the time-skipping test server: tests use the dev server.\n${lastLines(maven.output, 3)}`,
    );
    await rm(unfinished, { recursive: true, force: true });
    return false;
  }
  const jars = (await readdir(unfinished)).filter((name) => name.endsWith('.jar'));
  const classPath = jars.map((name) => `$here/${name}`).join(':');
  const script = `#!/bin/sh\nhere=$(dirname "$0")\nexec java ${javaOptions} -cp "${classPath}" ${mainClass} "$@"\n`;
  await writeFile(join(unfinished, 'temporal-test-server'), script, { mode: 0o755 });
  await rename(unfinished, folder);
  return true;
}

async function runs(command: string, args: readonly string[], env: Environment): Promise<boolean> {
  return (await runCommand(command, args, { env })).code === 0;
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
