import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { say } from './step.mjs';

/** One install or build at a time in this clone: `npm ci` would pull node_modules away from under another one. */
export async function withSetupLock(root, work) {
  const lock = join(root, '.towline-setup');
  await acquire(lock);
  const release = () => rmSync(lock, { recursive: true, force: true });
  process.once('exit', release);
  try {
    return await work();
  } finally {
    process.removeListener('exit', release);
    release();
  }
}

async function acquire(lock) {
  for (let tries = 0; ; tries++) {
    try {
      mkdirSync(lock);
      writeFileSync(join(lock, 'pid'), String(process.pid));
      return;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    // A holder that has made the folder, but not yet the file in it, gets a second for that.
    const holder = holderOf(lock);
    if (holder === undefined ? tries > 10 : !isAlive(holder)) rmSync(lock, { recursive: true, force: true });
    else if (tries === 0) say('another process is setting up this clone: waiting for it');
    await sleep(100);
  }
}

function holderOf(lock) {
  try {
    return Number(readFileSync(join(lock, 'pid'), 'utf8')) || undefined;
  } catch {
    return undefined;
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}
