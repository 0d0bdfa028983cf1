import { execFile, execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, chown, mkdtemp, rm, statfs, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { anyFreePort } from '../../../src/dev-server/free-port.js';
import { startGuarded } from '../../../src/dev-server/guarded-process.js';
import { findPostgres } from './find-postgres.js';

const run = promisify(execFile);

export interface TestCluster {
  /** Of a user who may create databases. */
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * A Postgres of our own, in a temporary folder, on loopback. Undefined, with a message, if Postgres is not installed;
 * an error if `TEST_POSTGRES` is `required`.
 */
export async function startTestCluster(
  env: NodeJS.ProcessEnv,
  log: (line: string) => void,
  tls?: { readonly cert: string; readonly key: string },
): Promise<TestCluster | undefined> {
  const binaries = findPostgres(env);
  if (binaries === undefined) {
    const what = 'Postgres is not installed (no "initdb" on the PATH): the tests of the store on Postgres';
    if (env['TEST_POSTGRES'] === 'required') throw new Error(`${what} cannot run. Install the package "postgresql".`);
    log(`\nSKIPPED: ${what} are skipped. Install the package "postgresql" to run them.\n`);
    return undefined;
  }
  const folder = await mkdtemp(join(await fastFolder(), 'towline-postgres-'));
  const asUser = await unprivileged(folder);
  const password = randomBytes(12).toString('hex');
  const passwordFile = join(folder, 'password');
  await writeFile(passwordFile, password);
  const data = join(folder, 'data');
  const [file, ...args] = [...asUser, join(binaries, 'initdb'), '--pgdata', data, '--username', 'towline'];
  // The tests end processes, not the machine: nothing needs to reach its disk.
  await run(file, [...args, '--pwfile', passwordFile, '--auth', 'scram-sha-256', '--no-locale', '-E', 'UTF8', '-N'], {
    cwd: folder,
  });

  const port = await anyFreePort();
  const settings = [`port=${port}`, 'listen_addresses=127.0.0.1', 'unix_socket_directories=', 'fsync=off'];
  const [command, ...rest] = [...asUser, join(binaries, 'postgres'), '-D', data];
  if (tls !== undefined) {
    await writeFile(join(folder, 'cert.pem'), tls.cert);
    await writeFile(join(folder, 'key.pem'), tls.key);
    // The server accepts only a key that belongs to its own user.
    await run(asUser.length > 0 ? 'chown' : 'true', ['--reference', folder, join(folder, 'key.pem')]);
    await chmod(join(folder, 'key.pem'), 0o600);
    settings.push('ssl=on', `ssl_cert_file=${join(folder, 'cert.pem')}`, `ssl_key_file=${join(folder, 'key.pem')}`);
  }
  const options = [...settings, 'max_connections=200'].flatMap((setting) => ['-c', setting]);
  const server = await startGuarded(command, [...rest, ...options], join(folder, 'log'));
  const url = `postgres://towline:${password}@127.0.0.1:${port}/postgres`;
  await untilItAnswers(url, server.ended);
  return {
    url,
    async stop() {
      // Without waiting for open connections, as SIGTERM would.
      await server.stop('SIGINT');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/**
 * In memory, if this system has a file system there with room enough: each database of a test is 350 files, and to create
 * and delete those on a disk takes two thirds of Postgres's CPU time.
 */
async function fastFolder(): Promise<string> {
  const memory = '/dev/shm';
  const found = await statfs(memory).catch(() => undefined);
  return found !== undefined && found.bavail * found.bsize > ROOM_BYTES ? memory : tmpdir();
}

/** A run takes a tenth of it. */
const ROOM_BYTES = 2 ** 30;

/** Postgres refuses to run as root: then another user gets the folder. @returns the prefix of its commands */
async function unprivileged(folder: string): Promise<readonly string[]> {
  if (process.getuid?.() !== 0) return [];
  const user = ['postgres', 'nobody'].find((name) => idOf(name, '-u') !== undefined);
  if (user === undefined) throw new Error('Postgres refuses to run as root, and there is no user "nobody".');
  await chown(folder, idOf(user, '-u') ?? 0, idOf(user, '-g') ?? 0);
  return ['setpriv', '--reuid', user, '--regid', String(idOf(user, '-g')), '--clear-groups'];
}

function idOf(user: string, which: '-u' | '-g'): number | undefined {
  try {
    return Number(execFileSync('id', [which, user], { stdio: ['ignore', 'pipe', 'ignore'] }).toString());
  } catch {
    return undefined;
  }
}

async function untilItAnswers(url: string, ended: Promise<unknown>): Promise<void> {
  let isGone = false;
  void ended.then(() => {
    isGone = true;
    return undefined;
  });
  for (;;) {
    const client = new Client({ connectionString: url });
    try {
      await client.connect();
      await client.end();
      return;
    } catch (error) {
      if (isGone) throw new Error('The Postgres of the tests ended by itself', { cause: error });
    }
    await new Promise((resolve) => {
      setTimeout(resolve, 50);
    });
  }
}
