/**
 * A program that does everything that attackers do at once, from many addresses (the gateway takes this machine for a
 * proxy), until it is ended; then it writes how it was answered. A separate process, so that it does not distort the
 * times of honest requests.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { constants, setPriority } from 'node:os';
import type { AttackOrder } from './attack.js';

const SETTLEMENT_PATH = '/api/v3/deposit/crypto-bridge/webhook/provider/settlement';

// Attackers have machines of their own: their work must not take CPU from what they attack.
setPriority(constants.priority.PRIORITY_LOW);

const order = JSON.parse(process.env['ORDER'] ?? '') as AttackOrder;
const { url, greedyToken, hangingToken, waitedFor, transferInput, answersFile } = order;
/** Answers, by kind of attack and status; 0: none. */
const answers = new Map<string, number>();
const stopped = new AbortController();
const { signal } = stopped;
const sockets = new Set<Socket>();

const send = async (what: string, path: string, init: RequestInit): Promise<void> => {
  const status = await fetch(url + path, { ...init, signal })
    .then(async (answer) => {
      await answer.arrayBuffer();
      return answer.status;
    })
    .catch(() => 0);
  if (signal.aborted) return;
  const name = `${what} ${status}`;
  answers.set(name, (answers.get(name) ?? 0) + 1);
};
const event = (what: string, address: string, body: string, headers: Record<string, string> = {}) =>
  send(what, SETTLEMENT_PATH, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-forwarded-for': address, ...headers },
    body,
  });
const paced = (perSecond: number, work: () => Promise<unknown>): void => {
  const timer = setInterval(() => void work().catch(() => undefined), 1_000 / perSecond);
  signal.addEventListener('abort', () => clearInterval(timer));
};
const dial = (text: string): Socket => {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  sockets.add(socket);
  socket.on('error', () => undefined);
  socket.on('data', () => undefined);
  socket.on('close', () => sockets.delete(socket));
  socket.write(text);
  return socket;
};
const forged = (): string =>
  JSON.stringify({ provider_reference_id: `forged-${randomUUID()}`, status: 'COMPLETED', amount: 115.5 });
const anyNetwork = (): string => `2001:db8:${randomBytes(2).toString('hex')}:${randomBytes(2).toString('hex')}::1`;

paced(60, () => event('forged reference', anyNetwork(), forged()));
paced(100, () => {
  const signature = `v1,${randomBytes(32).toString('base64')}`;
  const at = String(Math.floor(Date.now() / 1_000));
  const headers = { 'webhook-id': randomUUID(), 'webhook-timestamp': at, 'webhook-signature': signature };
  return event('wrong signature', '198.51.100.1', forged(), headers);
});
const garbage = `{"notes":"${'x'.repeat(60_000)}"}`;
paced(20, () => event('garbage', '198.51.100.2', garbage));
paced(30, () => event('garbage of many', anyNetwork(), garbage.slice(0, -1)));
paced(50, () =>
  send('guess', '/flows', { headers: { authorization: 'Bearer guess', 'x-forwarded-for': '198.51.100.3' } }),
);
paced(20, () => send('list', '/events?limit=500', { headers: { authorization: `Bearer ${greedyToken}` } }));
paced(100, () =>
  send('wait', `/flows/bridge-transfer/${waitedFor}/wait?timeoutSeconds=60`, {
    headers: { authorization: `Bearer ${greedyToken}` },
  }),
);
const head = `POST ${SETTLEMENT_PATH} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n`;
paced(20, () => {
  const slow = dial(`${head}X-Forwarded-For: ${anyNetwork()}\r\nContent-Length: 65536\r\n\r\n{`);
  const timer = setInterval(() => slow.write('"'), 1_000);
  slow.on('close', () => clearInterval(timer));
  return Promise.resolve();
});
paced(50, () => Promise.resolve(dial('')));
const pipelined = (body: string, count: number): string =>
  `${head}X-Forwarded-For: 198.51.100.4\r\nContent-Length: ${body.length}\r\n\r\n${body}`.repeat(count);
const [small, large] = [pipelined('{}', 100), pipelined(garbage, 100)];
paced(2, () => Promise.resolve(dial(small)));
paced(0.5, () => Promise.resolve(dial(large)));

const hanging = createServer(() => undefined).listen(0, '127.0.0.1');
await new Promise((resolve) => {
  hanging.once('listening', resolve);
});
const { port } = hanging.address() as AddressInfo;
// In a quarter of an hour more receivers hang than P14 asks for.
paced(0.6, () => {
  const reference = `hung-${randomUUID()}`;
  const callbackUrl = `http://${reference}.localhost:${port}/hangs`;
  return send('transfer whose receiver hangs', '/flows/bridge-transfer', {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${hangingToken}` },
    body: JSON.stringify({ ...transferInput, provider_reference_id: reference, callbackUrl }),
  });
});

const stop = async (): Promise<void> => {
  stopped.abort();
  for (const socket of sockets) socket.destroy();
  hanging.closeAllConnections();
  hanging.close();
  await writeFile(answersFile, JSON.stringify(Object.fromEntries(answers)));
  process.exit(0);
};
process.once('SIGTERM', () => void stop());
process.once('disconnect', () => void stop());
process.send?.({ kind: 'ready' });
