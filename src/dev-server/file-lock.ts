import { randomUUID } from 'node:crypto';
import { readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

const heartbeatMs = 2_000;
const abandonedAfterMs = 30_000;
const pollMs = 200;

export interface LockOptions {
  /** Called once, when another process holds the lock. */
  onWait?: () => void;
}

/**
 * Runs `work` while no other process that uses the same lock file does.
 * A lock whose holder died is taken over: at once where its process can be looked up, else (a cache shared between
 * containers) once its heartbeat has stopped.
 */
export async function withFileLock<T>(path: string, work: () => Promise<T>, options: LockOptions = {}): Promise<T> {
  await acquire(path, options);
  const heartbeat = setInterval(() => {
    const now = new Date();
    utimes(path, now, now).catch(() => {});
  }, heartbeatMs);
  heartbeat.unref();
  try {
    return await work();
  } finally {
    clearInterval(heartbeat);
    await rm(path, { force: true });
  }
}

async function acquire(path: string, { onWait }: LockOptions): Promise<void> {
  const me = JSON.stringify({ host: hostname(), pid: process.pid });
  let toChange = false;
  for (;;) {
    try {
      await writeFile(path, me, { flag: 'wx' });
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    if (await isAbandoned(path)) {
      await moveAway(path);
      continue;
    }
    if (!toChange) onWait?.();
    toChange = true;
    await sleep(pollMs);
  }
}

async function isAbandoned(path: string): Promise<boolean> {
  const [text, facts] = await Promise.all([readFile(path, 'utf8'), stat(path)]).catch(() => ['', undefined] as const);
  if (!facts) return false;
  if (Date.now() - facts.mtimeMs > abandonedAfterMs) return true;
  const holder = parseHolder(text);
  return holder?.host === hostname() && !isAlive(holder.pid);
}

/** By rename, so that of two processes that find the same abandoned lock only one removes it. */
async function moveAway(path: string): Promise<void> {
  const away = `${path}.${randomUUID()}`;
  try {
    await rename(path, away);
    await rm(away, { force: true });
  } catch {
    // Another process was faster.
  }
}

function parseHolder(text: string): { host: string; pid: number } | undefined {
  try {
    return JSON.parse(text) as { host: string; pid: number };
  } catch {
    // Half written: its process is about to finish the line.
    return undefined;
  }
}

/** Whether a process with this id runs on this machine. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it runs, but belongs to someone else.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
