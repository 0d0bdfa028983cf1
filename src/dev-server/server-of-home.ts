import { readFile, writeFile } from 'node:fs/promises';
import { isAlive } from './file-lock.js';
import { isPortFree } from './free-port.js';

/*
 * A file next to the database of our own Temporal server says which process uses it, and at which ports. SQLite lets two
 * servers open one file, and each would then take the other's tasks. Every command of this home finds the server by it,
 * and a restart keeps the ports.
 */

export interface ServerOfHome {
  /** Undefined once it has ended. */
  readonly pid?: number;
  readonly port: number;
  readonly uiPort?: number;
}

export async function writeServerOfHome(dbFile: string, server: ServerOfHome): Promise<void> {
  await writeFile(fileOf(dbFile), JSON.stringify(server));
}

/** The server of this database that runs now, or the latest one. */
export async function readServerOfHome(dbFile: string): Promise<ServerOfHome | undefined> {
  try {
    return JSON.parse(await readFile(fileOf(dbFile), 'utf8')) as ServerOfHome;
  } catch {
    return undefined;
  }
}

export async function runningServerOfHome(dbFile: string): Promise<(ServerOfHome & { pid: number }) | undefined> {
  const server = await readServerOfHome(dbFile);
  if (server?.pid === undefined) return undefined;
  // Both, because after a restart of the machine the id may belong to any program.
  const isRunning = isAlive(server.pid) && !(await isPortFree(server.port));
  return isRunning ? { ...server, pid: server.pid } : undefined;
}

function fileOf(dbFile: string): string {
  return `${dbFile}.owner`;
}
