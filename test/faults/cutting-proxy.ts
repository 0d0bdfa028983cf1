import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** Passes this many bytes of each connection on, then resets both sides. */
export async function cuttingProxy(targetPort: number, bytes: number) {
  let cuts = 0;
  const sockets = new Set<Socket>();
  const server: Server = createServer((client) => {
    const upstream = connect(targetPort, '127.0.0.1');
    let passed = 0;
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => sockets.delete(socket));
    }
    client.on('data', (chunk: Buffer) => {
      const part = chunk.subarray(0, bytes - passed);
      passed += part.length;
      upstream.write(part, () => {
        if (passed < bytes) return;
        cuts += 1;
        client.resetAndDestroy();
        upstream.resetAndDestroy();
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    cuts: () => cuts,
    close: () => {
      sockets.forEach((socket) => socket.destroy());
      return new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
