import { createServer } from 'node:net';

/** Whether nothing listens on this port of the loopback interface. */
export function isPortFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen({ port, host: '127.0.0.1' }, () => probe.close(() => resolve(true)));
  });
}

/** The first free port of the loopback interface from `first` on. */
export async function nextFreePort(first: number, except: readonly number[] = []): Promise<number> {
  for (let port = first; port < Math.min(first + 1_000, 65_536); port++) {
    if (!except.includes(port) && (await isPortFree(port))) return port;
  }
  throw new Error(`No free port from ${first} on. Stop some of the programs that listen there.`);
}

/** Systems give out the ports above these, to listeners on port 0 and to outgoing connections. */
const [FIRST, COUNT] = [15_000, 17_000];
/** Between the first ports of two processes with adjacent ids. */
const APART = 131;
let given = 0;

/**
 * Any free port, for a program that opens it later: the system gives it to no other program meanwhile, and this function
 * to no other process.
 */
export async function anyFreePort(): Promise<number> {
  for (let tries = 0; tries < COUNT; tries += 1) {
    given += 1;
    const port = FIRST + ((process.pid * APART + given) % COUNT);
    if (await isPortFree(port)) return port;
  }
  throw new Error('No free port. Stop some of the programs that listen on this machine.');
}
