import { createServer, type Server } from 'node:http';
import net, { type AddressInfo, type Socket } from 'node:net';
import type { LookupAddress } from 'node:dns';
import { afterEach, describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { createCallbackSender, post, receiverOf, type Resolve } from '../../src/callbacks/index.js';
import { closedPort } from '../service-client/scripted-server.js';
import { startReceiver } from './receiver.js';

const SECRET = `whsec_${Buffer.alloc(32, 5).toString('base64')}`;
const HERE: LookupAddress = { address: '127.0.0.1', family: 4 };
const resolvingTo =
  (...addresses: readonly LookupAddress[]): Resolve =>
  (_, done) =>
    done(null, addresses);
const send = (url: string, resolve: Resolve = resolvingTo(HERE), body = '{"n":"é"}') =>
  post(url, { 'x-own': 'yes' }, body, { policy: { allowLoopback: true }, resolve, timeoutMs: 5_000 });

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});
const receiving = async () => {
  const receiver = await startReceiver();
  closing.push(() => receiver.close());
  return receiver;
};
async function listening(server: Server) {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => sockets.add(socket));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  closing.push(() => {
    for (const socket of sockets) socket.destroy();
    return new Promise((done) => server.close(done));
  });
  return `http://localhost:${(server.address() as AddressInfo).port}/`;
}

describe('one POST of a callback', () => {
  it('carries its headers and its body, and closes its connection', async () => {
    const receiver = await receiving();
    receiver.answer = () => ({ status: 202, headers: { 'retry-after': '7' } });
    expect(await send(`${receiver.url}/hook`)).toEqual({ httpStatus: 202, retryAfter: '7' });
    const [one] = receiver.received;
    expect(one).toMatchObject({
      path: '/hook',
      text: '{"n":"é"}',
      headers: { 'x-own': 'yes', connection: 'close', 'content-length': '10' },
    });
  });

  it('is a POST', async () => {
    const methods: unknown[] = [];
    const url = await listening(
      createServer((request, response) => {
        methods.push(request.method);
        response.end();
      }),
    );
    expect(await send(url)).toEqual({ httpStatus: 200, retryAfter: undefined });
    expect(methods).toEqual(['POST']);
  });

  it('names the code of what went wrong, and no address', async () => {
    const port = await closedPort();
    const failed = async (url: string, resolve?: Resolve) => {
      const error = await send(url, resolve).then(
        () => undefined,
        (reason: unknown) => reason as Error,
      );
      return [error?.name, /\(([A-Z]+)\)/.exec(error?.message ?? '')?.[1], /localhost|127\.0|secret/.test(`${error}`)];
    };
    expect(await failed(`http://localhost:${port}/secret`)).toEqual([
      'CallbackUnreachableError',
      'ECONNREFUSED',
      false,
    ]);
    const unresolved: Resolve = (_, done) => done(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }), []);
    expect(await failed(`http://localhost:${port}/`, unresolved)).toEqual([
      'CallbackUnreachableError',
      'ENOTFOUND',
      false,
    ]);
  });

  it('is refused, without a connection, by its URL or by where its name leads', async () => {
    const options = { policy: { allowLoopback: false }, resolve: resolvingTo(HERE), timeoutMs: 5_000 };
    const nowhere = { ...options, resolve: resolvingTo() };
    const refused = { name: 'CallbackRefusedError' };
    await expect(post('http://shop.example/', {}, '{}', options)).rejects.toMatchObject(refused);
    await expect(post('https://shop.example/', {}, '{}', options)).rejects.toMatchObject(refused);
    await expect(post('https://shop.example/', {}, '{}', nowhere)).rejects.toMatchObject(refused);
  });

  it('goes to the first allowed address, also if only one address is tried', async () => {
    const receiver = await receiving();
    const mixed = resolvingTo({ address: '10.0.0.1', family: 4 }, HERE);
    const before = net.getDefaultAutoSelectFamily();
    try {
      for (const several of [true, false]) {
        net.setDefaultAutoSelectFamily(several);
        expect(await send(`http://localhost:${receiver.port}/`, mixed)).toMatchObject({ httpStatus: 204 });
      }
    } finally {
      net.setDefaultAutoSelectFamily(before);
    }
    expect(receiver.received).toHaveLength(2);
  });

  it('takes answers with some kilobytes of headers, and not with many', async () => {
    const withHeader = (bytes: number) =>
      listening(createServer((_, response) => response.writeHead(200, { 'x-long': 'x'.repeat(bytes) }).end()));
    expect(await send(await withHeader(8_000))).toMatchObject({ httpStatus: 200 });
    await expect(send(await withHeader(20_000))).rejects.toMatchObject({ name: 'CallbackUnreachableError' });
  });

  it('counts by its status if the connection is lost in the middle of its answer', async () => {
    const url = await listening(
      createServer((_, response) => {
        response.writeHead(200, { 'content-length': '1000' });
        response.write('part', () => response.socket?.resetAndDestroy());
      }),
    );
    const outcome = await send(url).catch((error: Error) => error.name);
    // The status may be lost with the rest; it must not bring the worker down.
    expect([{ httpStatus: 200, retryAfter: undefined }, 'CallbackUnreachableError']).toContainEqual(outcome);
  });
});

describe('a callback', () => {
  const senderOf = (secrets: readonly string[]) =>
    createCallbackSender({ secrets: () => secrets, allowLoopback: true, nowMs: () => 1_700_000_000_999 });

  it('is signed at its time, names its sender, and no header from elsewhere takes the place of these', async () => {
    const receiver = await receiving();
    const [url, body] = [`${receiver.url}/hook`, '{"a":1}'];
    const headers = { traceparent: '00-1', 'webhook-id': 'forged', 'user-agent': 'forged', 'content-type': 'forged' };
    expect(await senderOf([SECRET]).send({ url, id: 'msg_1', body, headers })).toMatchObject({ httpStatus: 204 });
    expect(receiver.received[0]?.headers).toMatchObject({
      traceparent: '00-1',
      'content-type': 'application/json',
      'user-agent': 'towline',
      'webhook-id': 'msg_1',
      'webhook-timestamp': '1700000000',
      'webhook-signature': new Webhook(SECRET).sign('msg_1', new Date(1_700_000_000_000), body),
    });
  });

  it('is sent nowhere without a secret', async () => {
    const sent = senderOf([]).send({ url: 'http://localhost:9/', id: 'msg_1', body: '{}' });
    await expect(sent).rejects.toMatchObject({ name: 'NoCallbackSecretError' });
  });

  it.each([
    ['https://hooks.shop.example.co.uk:8443/a', 'example.co.uk'],
    ['https://one.github.io/', 'one.github.io'],
    ['https://1.2.3.4:99/', '1.2.3.4'],
    ['https://localhost/', 'localhost'],
    ['nonsense', '(no URL)'],
  ])('to %s is to the receiver %s', (url, receiver) => {
    expect(receiverOf(url)).toBe(receiver);
  });
});
