import { createServer as createHttpServer } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { createServer as createTcpServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createCallbackSender } from '../../src/callbacks/index.js';
import { SELF_SIGNED } from '../service-client/tls-fixture.js';

const secrets = [`whsec_${Buffer.alloc(32, 5).toString('base64')}`];
/** Ample if a test is not about the time: this machine may stand still for a second. */
const sendTo = (url: string, timeoutMs = 20_000) =>
  createCallbackSender({ secrets: () => secrets, allowLoopback: true, timeoutMs }).send({
    url,
    id: 'msg_1',
    body: '{}',
  });

const open = new Set<Socket>();
let server: Server | undefined;
async function listen(made: Server): Promise<number> {
  server = made;
  made.on('connection', (socket) => open.add(socket));
  await new Promise<void>((done) => made.listen(0, '127.0.0.1', done));
  return (made.address() as AddressInfo).port;
}
afterEach(async () => {
  for (const socket of open) socket.destroy();
  open.clear();
  await new Promise((done) => server?.close(done));
});

describe('a receiver that misbehaves', () => {
  it('is read no further than 64 KiB or so, and its status counts', async () => {
    let written = 0;
    const port = await listen(
      createHttpServer((_, response) => {
        response.on('error', () => undefined);
        const more = (): void => {
          while (!response.destroyed && response.write(Buffer.alloc(16_384))) written += 16_384;
        };
        response.writeHead(200).on('drain', more);
        more();
      }),
    );
    expect(await sendTo(`http://127.0.0.1:${port}/`)).toMatchObject({ httpStatus: 200 });
    // The buffers of two sockets limit what it could write, not its duration.
    expect(written).toBeLessThan(32 * 1_024 * 1_024);
  });

  it.each([
    ['101 and an end', 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'],
    ['1xx without an end', 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(10_000)],
    ['nothing', ''],
    ['half a header', 'HTTP/1.1 200 OK\r\nServer: x'],
    ['no HTTP', '\u0000\u0000\u0000'],
  ])('and answers with %s has the attempt end, which gives its place back', async (_what, answer) => {
    const port = await listen(createTcpServer((socket) => socket.on('error', () => undefined).write(answer)));
    await expect(sendTo(`http://127.0.0.1:${port}/`, 1_000)).rejects.toMatchObject({
      name: 'CallbackUnreachableError',
    });
  });

  it('is read to the end of a short answer: a connection that is cut would look like a caller who gave up', async () => {
    let isWhole: (value: boolean) => void = () => undefined;
    const whole = new Promise<boolean>((resolve) => (isWhole = resolve));
    const port = await listen(
      createHttpServer((_, response) => {
        response.on('close', () => isWhole(response.writableFinished));
        response.writeHead(200);
        // Each after a turn of the event loop, in which the caller reads the part before.
        let parts = 50;
        const more = (): void => {
          parts -= 1;
          if (parts === 0) response.end('end');
          else response.write('part', () => setImmediate(more));
        };
        more();
      }),
    );
    expect(await sendTo(`http://127.0.0.1:${port}/`)).toMatchObject({ httpStatus: 200 });
    expect(await whole).toBe(true);
  });

  it('is given up when it does not answer in time', async () => {
    const port = await listen(createHttpServer(() => undefined));
    await expect(sendTo(`http://127.0.0.1:${port}/`, 500)).rejects.toMatchObject({ name: 'CallbackUnreachableError' });
  });

  it('counts by its status if the rest of its answer never comes', async () => {
    const port = await listen(createHttpServer((_, response) => void response.writeHead(503).write('…')));
    expect(await sendTo(`http://127.0.0.1:${port}/`, 3_000)).toMatchObject({ httpStatus: 503 });
  });

  it('gets nothing if its certificate is not trusted', async () => {
    let heard = 0;
    const port = await listen(createHttpsServer(SELF_SIGNED, () => (heard += 1)));
    await expect(sendTo(`https://localhost:${port}/`)).rejects.toMatchObject({ name: 'CallbackUnreachableError' });
    expect(heard).toBe(0);
  });

  it('is sent nothing unsigned', async () => {
    const port = await listen(createHttpServer(() => undefined));
    const unsigned = createCallbackSender({ secrets: () => [], allowLoopback: true });
    const sent = unsigned.send({ url: `http://127.0.0.1:${port}/`, id: 'msg_1', body: '{}' });
    await expect(sent).rejects.toThrow('CALLBACK_SECRETS');
    expect(open.size).toBe(0);
  });
});
