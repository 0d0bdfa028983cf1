import { readFile, rm, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { isAlive } from './file-lock.js';
import { isPortFree } from './free-port.js';

// SQLite lets two servers open one file, and each would then take the other's tasks. So a file next to the database
// names the server that uses it.

interface Owner {
  pid: number;
  port: number;
}

const pollMs = 100;

/**
 * Waits for the server that uses this database to end, since one whose Towline was killed needs a moment.
 * @returns the server that still uses it after `patienceMs`
 */
export async function currentOwner(dbFile: string, patienceMs: number): Promise<Owner | undefined> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const owner = await readOwner(dbFile);
    if (!owner || !(await isRunning(owner))) return undefined;
    if (performance.now() > deadline) return owner;
    await sleep(pollMs);
  }
}

export async function writeOwner(dbFile: string, owner: Owner): Promise<void> {
  await writeFile(ownerFile(dbFile), JSON.stringify(owner));
}

export async function removeOwner(dbFile: string): Promise<void> {
  await rm(ownerFile(dbFile), { force: true });
}

/** Both, because after a restart of the machine the id may belong to any program. */
async function isRunning({ pid, port }: Owner): Promise<boolean> {
  return isAlive(pid) && !(await isPortFree(port));
}

async function readOwner(dbFile: string): Promise<Owner | undefined> {
  try {
    return JSON.parse(await readFile(ownerFile(dbFile), 'utf8')) as Owner;
  } catch {
    return undefined;
  }
}

function ownerFile(dbFile: string): string {
  return `${dbFile}.owner`;
}
