import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A wire between two parties that can be cut. */
export interface Link {
  readonly port: number;
  /** Open connections are reset, and new ones too, until it is restored. */
  cut(): void;
  mend(): void;
  close(): Promise<void>;
}

/**
 * Passes connections on to the first of the ports, in turn, on which a process listens.
 * @param ports called for each connection
 */
export async function openLink(ports: () => readonly number[]): Promise<Link> {
  const sockets = new Set<Socket>();
  let isCut = false;
  let turn = 0;
  const server = createServer({ allowHalfOpen: true }, (client) => {
    keep(client);
    turn += 1;
    const all = ports();
    const inTurn = all.map((_, index) => all[(turn + index) % all.length] ?? 0);
    if (isCut) client.resetAndDestroy();
    else void join(client, inTurn);
  });
  const join = async (client: Socket, inTurn: readonly number[]): Promise<void> => {
    const upstream = await reach(inTurn);
    if (upstream === undefined || isCut) {
      client.resetAndDestroy();
      upstream?.destroy();
      return;
    }
    keep(upstream);
    client.pipe(upstream);
    upstream.pipe(client);
    client.on('close', () => upstream.destroySoon());
    upstream.on('close', () => client.destroySoon());
    client.on('error', () => upstream.resetAndDestroy());
    upstream.on('error', () => client.resetAndDestroy());
  };
  const keep = (socket: Socket): void => {
    socket.setNoDelay(true);
    socket.on('error', () => undefined);
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    cut() {
      isCut = true;
      for (const socket of sockets) socket.resetAndDestroy();
    },
    mend() {
      isCut = false;
    },
    async close() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

async function reach(ports: readonly number[]): Promise<Socket | undefined> {
  for (const port of ports) {
    const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true });
    const isOpen = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true));
      socket.once('error', () => resolve(false));
    });
    if (isOpen) return socket;
  }
  return undefined;
}
