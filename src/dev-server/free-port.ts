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

/** Any free port, chosen by the system. */
export function anyFreePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen({ port: 0, host: '127.0.0.1' }, () => {
      const address = probe.address();
      const port = typeof address === 'object' && address ? address.port : 0;
      probe.close(() => resolve(port));
    });
  });
}
