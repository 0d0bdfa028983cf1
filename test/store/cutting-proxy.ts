import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/**
 * `before`: the server never gets it, and undoes what was open. `after`: it was done, but its answer is lost. `never`:
 * the connection stays, and nothing passes through it any more, as with a process that hangs.
 */
export type Cut = 'before' | 'after' | 'never';

export interface CuttingProxy {
  /** The URL of a database, by way of this proxy. */
  through(url: string): string;
  /** Cuts the next connection that sends this, once. @returns resolves when it did */
  cutAt(words: string, cut: Cut): Promise<void>;
  /** While down, connections are refused after they are made, and those that exist are cut. */
  down(isDown: boolean): void;
  close(): Promise<void>;
}

/** A connection to Postgres that breaks where a test wants it to. */
export async function startCuttingProxy(target: { host: string; port: number }): Promise<CuttingProxy> {
  const sockets = new Set<Socket>();
  let isDown = false;
  let next: { words: string; cut: Cut; done: () => void } | undefined;

  const server = createServer((client) => {
    if (isDown) {
      client.destroy();
      return;
    }
    const upstream = connect(target);
    const both = [client, upstream];
    for (const socket of both) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        for (const one of both) one.destroy();
      });
    }
    let swallow = false;
    let hangs = false;
    client.on('data', (bytes) => {
      if (hangs) return;
      if (next === undefined || !bytes.includes(next.words)) {
        upstream.write(bytes);
        return;
      }
      const { cut, done } = next;
      next = undefined;
      if (cut === 'after') {
        swallow = true;
        upstream.write(bytes);
        // Its answer shows that it is done.
        upstream.once('data', () => client.destroy());
      } else if (cut === 'never') hangs = true;
      else client.destroy();
      done();
    });
    upstream.on('data', (bytes) => {
      if (!swallow) client.write(bytes);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;

  return {
    through(text) {
      const url = new URL(text);
      url.host = `127.0.0.1:${port}`;
      return url.href;
    },
    cutAt: (words, cut) =>
      new Promise((resolve) => {
        next = { words, cut, done: resolve };
      }),
    down(value) {
      isDown = value;
      if (isDown) for (const socket of sockets) socket.destroy();
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
