// For docker-compose.yml: `node tools/nearby.mjs 8401:sandbox:8401 gateway` runs `towline gateway` and forwards port
// 8401 of this machine to port 8401 of the container `sandbox`. Towline uses plain http only to this machine; and
// containers that share a network for that lose it when its owner restarts. Does nothing if a service is set.
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { pipeline } from 'node:stream';
import { fileURLToPath } from 'node:url';

const [node, , route = '', ...args] = process.argv;
const [nearPort, host, port] = route.split(':');

if (!process.env.SERVICE_BASE_URL?.trim()) {
  const server = createServer({ allowHalfOpen: true }, (near) => {
    // By name each time: a container that started again may have another address.
    const far = connect({ host, port: Number(port), allowHalfOpen: true });
    // Either end reports a broken connection by itself.
    pipeline(near, far, () => {});
    pipeline(far, near, () => {});
  });
  server.listen(Number(nearPort), '127.0.0.1').unref();
  await once(server, 'listening');
}

const main = new URL('../dist/src/cli/main.js', import.meta.url);
process.argv = [node, fileURLToPath(main), ...args];
await import(main.href);
