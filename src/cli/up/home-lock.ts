import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { uptime } from 'node:os';
import { isAlive } from '../../dev-server/file-lock.js';
import { CliError } from '../exit-codes.js';
import type { Home } from '../wiring/load-settings.js';

interface Holder {
  readonly pid: number;
  readonly since: string;
}

/**
 * Makes this process the only `towline up` of this home. A lock whose holder died is taken over.
 * @returns what releases it; the end of the process does so as well
 * @throws CliError where another one runs here
 */
export function lockHome(home: Pick<Home, 'folder' | 'lock'>): () => void {
  const me: Holder = { pid: process.pid, since: new Date().toISOString() };
  for (;;) {
    try {
      writeFileSync(home.lock, JSON.stringify(me), { flag: 'wx', mode: 0o600 });
      break;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const holder = holderOf(home.lock);
    if (holder !== undefined && isRunning(holder)) {
      throw new CliError(
        `${home.folder} is in use by process ${holder.pid}: stop that one, or set TOWLINE_HOME, GATEWAY_PORT and ` +
          'SANDBOX_PORT to run another one beside it.',
      );
    }
    rmSync(home.lock, { force: true });
  }
  const release = () => {
    process.removeListener('exit', release);
    rmSync(home.lock, { force: true });
  };
  process.once('exit', release);
  return release;
}

function holderOf(lock: string): Holder | undefined {
  try {
    return JSON.parse(readFileSync(lock, 'utf8')) as Holder;
  } catch {
    // Gone meanwhile, or cut off by a full disk: it is not held.
    return undefined;
  }
}

/** After a restart of the machine (or of a container, where we may have our predecessor's id) an id says nothing. */
function isRunning({ pid, since }: Holder): boolean {
  const bootedAtMs = Date.now() - uptime() * 1_000;
  return pid !== process.pid && Date.parse(since) > bootedAtMs && isAlive(pid);
}
