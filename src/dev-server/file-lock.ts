import { randomUUID } from 'node:crypto';
import { readFileSync, renameSync, rmSync, statSync, utimes, writeFileSync } from 'node:fs';
import { hostname, uptime } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { isoTime, systemClock } from '../clock.js';

const HEARTBEAT_MS = 2_000;
const ABANDONED_AFTER_MS = 30_000;
const POLL_MS = 200;
/** A process that has made the file writes its line at once. */
const WRITTEN_WITHIN_MS = 2_000;

interface Holder {
  readonly host: string;
  readonly pid: number;
  /** When it took the lock, ISO 8601. */
  readonly since: string;
}

/** The lock is ours until it is released or this process exits. */
interface Taken {
  readonly taken: true;
  release(): void;
}

/**
 * Takes a lock file if no other process holds it. A lock whose holder is gone is taken over: at once if its process can
 * be looked up on this machine, else (a folder shared between containers) once its heartbeat has stopped.
 *
 * @returns `pid` of the holder; undefined while it writes its line
 */
export function takeFileLock(path: string): Taken | { readonly taken: false; readonly pid: number | undefined } {
  for (;;) {
    const me: Holder = { host: hostname(), pid: process.pid, since: isoTime(systemClock) };
    try {
      writeFileSync(path, JSON.stringify(me), { flag: 'wx', mode: 0o600 });
      return held(path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const found = holderOf(path);
    if (found === undefined) continue;
    if (!isAbandoned(found)) return { taken: false, pid: found.holder?.pid };
    moveAway(path);
  }
}

export interface LockOptions {
  /** Called once, when another process holds the lock. */
  onWait?: () => void;
}

/** Runs `work` while no other process that uses the same lock file does. */
export async function withFileLock<T>(path: string, work: () => Promise<T>, { onWait }: LockOptions = {}): Promise<T> {
  let lock = takeFileLock(path);
  if (!lock.taken) onWait?.();
  while (!lock.taken) {
    await sleep(POLL_MS);
    lock = takeFileLock(path);
  }
  try {
    return await work();
  } finally {
    lock.release();
  }
}

function held(path: string): Taken {
  const heartbeat = setInterval(() => {
    const now = new Date(systemClock.nowMs());
    utimes(path, now, now, () => undefined);
  }, HEARTBEAT_MS);
  heartbeat.unref();
  const release = () => {
    clearInterval(heartbeat);
    process.removeListener('exit', release);
    rmSync(path, { force: true });
  };
  process.once('exit', release);
  return { taken: true, release };
}

interface Found {
  /** Undefined: half written, or cut off by a full disk. */
  readonly holder: Holder | undefined;
  readonly ageMs: number;
}

/** Undefined: it is gone by now. */
function holderOf(path: string): Found | undefined {
  try {
    const ageMs = systemClock.nowMs() - statSync(path).mtimeMs;
    return { holder: parseHolder(readFileSync(path, 'utf8')), ageMs };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function parseHolder(text: string): Holder | undefined {
  try {
    return JSON.parse(text) as Holder;
  } catch {
    return undefined;
  }
}

function isAbandoned({ holder, ageMs }: Found): boolean {
  if (holder === undefined) return ageMs > WRITTEN_WITHIN_MS;
  return holder.host === hostname() ? !isRunning(holder) : ageMs > ABANDONED_AFTER_MS;
}

/** A process id means nothing after a restart of the machine or container: ours may equal a predecessor's. */
function isRunning({ pid, since }: Holder): boolean {
  const upForS = pid === process.pid ? process.uptime() : uptime();
  return Date.parse(since) > systemClock.nowMs() - upForS * 1_000 && isAlive(pid);
}

/** By rename, so that of two processes that find the same abandoned lock only one removes it. */
function moveAway(path: string): void {
  const away = `${path}.${randomUUID()}`;
  try {
    renameSync(path, away);
    rmSync(away, { force: true });
  } catch {
    // Another process was faster.
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
