/**
 * A program that does everything that attackers do at once, until it is ended; then it writes how it was answered. A
 * separate process, so that it does not distort the times of honest requests.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { Agent, createServer, request, type OutgoingHttpHeaders } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { constants, setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AttackOrder } from './attack.js';

const SETTLEMENT_PATH = '/api/v3/deposit/crypto-bridge/webhook/provider/settlement';
/** The gateway takes it for a proxy: its requests may have any address, and its connections are not limited. */
const PROXY = '127.0.0.1';
/** Connections that it keeps to the gateway, as proxies do. */
const OF_THE_PROXY = 256;
/** A client that dials from another address of this machine is a stranger there, until it shows a token. */
const [SLOW, IDLE, PIPELINING] = ['127.0.0.2', '127.0.0.3', '127.0.0.4'];
const FIRST_POLLER = 5;
const LARGEST_BODY = 64 * 1_024;
/** More than the 2,048 connections that one address may have. */
const [FLOOD, DIALLED_AT_ONCE, DIALLED_EVERY_MS] = [2_300, 100, 20];
const TICK_MS = 20;

// Attackers have machines of their own: their work must not take CPU from what they attack.
setPriority(constants.priority.PRIORITY_LOW);

const order = JSON.parse(process.env['ORDER'] ?? '') as AttackOrder;
const { url, greedyToken, pollTokens, hangingToken, waitedFor, transferInput, answersFile } = order;
/** Answers, by kind of attack and status; 0: none; `cut`: a connection that was closed with fewer answers than requests. */
const answers = new Map<string, number>();
const count = (name: string): void => void answers.set(name, (answers.get(name) ?? 0) + 1);

const agents = new Map<string, Agent>();
const agentOf = (localAddress: string): Agent => {
  const maxSockets = localAddress === PROXY ? OF_THE_PROXY : Infinity;
  const agent = agents.get(localAddress) ?? new Agent({ keepAlive: true, localAddress, maxSockets });
  agents.set(localAddress, agent);
  return agent;
};
interface Attempt {
  readonly from?: string;
  readonly method?: 'GET' | 'POST';
  readonly headers: OutgoingHttpHeaders;
  readonly body?: string;
}
const send = (what: string, path: string, { from = PROXY, method = 'GET', headers, body = '' }: Attempt): void => {
  let isCounted = false;
  const answered = (status = 0): void => {
    if (!isCounted) count(`${what} ${status}`);
    isCounted = true;
  };
  request(url + path, { agent: agentOf(from), method, headers }, (answer) => {
    answer.on('end', () => answered(answer.statusCode));
    answer.on('error', () => answered());
    answer.resume();
  })
    .on('error', () => answered())
    .end(body);
};
const JSON_BODY = { 'content-type': 'application/json' };
const event = (what: string, address: string, body: string, headers: OutgoingHttpHeaders = {}): void =>
  send(what, SETTLEMENT_PATH, {
    method: 'POST',
    headers: { ...JSON_BODY, 'x-forwarded-for': address, ...headers },
    body,
  });
const bearer = (token: string): OutgoingHttpHeaders => ({ authorization: `Bearer ${token}` });

/** What this process was too slow for is done later, but no more than what is due in a second. */
const paced = (perSecond: number, attack: () => void): void => {
  const startedMs = performance.now();
  let begun = 0;
  setInterval(() => {
    const due = ((performance.now() - startedMs) / 1_000) * perSecond;
    for (begun = Math.max(begun, Math.floor(due - perSecond)); begun < due; begun += 1) attack();
  }, TICK_MS);
};
const dial = (what: string, localAddress: string, text = '', requests = 1): Socket => {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), localAddress });
  let answered = 0;
  socket.on('error', () => undefined);
  socket.on('data', (chunk) => {
    for (const [, status] of chunk.toString('latin1').matchAll(/HTTP\/1\.1 (\d{3})/g)) {
      count(`${what} ${status}`);
      answered += 1;
    }
  });
  socket.on('close', () => {
    if (answered < requests) count(`${what} cut`);
  });
  if (text !== '') socket.write(text);
  return socket;
};
const forged = (): string =>
  JSON.stringify({ provider_reference_id: `forged-${randomUUID()}`, status: 'COMPLETED', amount: 115.5 });
const group = (): string => randomBytes(2).toString('hex');
const anyNetwork = (): string => `2001:db8:${group()}:${group()}::1`;

paced(30, () => event('forged reference', anyNetwork(), forged()));
paced(30, () => event('one network', `2001:db8:0:1:${group()}:${group()}::1`, forged()));
paced(150, () => {
  const signature = `v1,${randomBytes(32).toString('base64')}`;
  const at = String(Math.floor(Date.now() / 1_000));
  const headers = { 'webhook-id': randomUUID(), 'webhook-timestamp': at, 'webhook-signature': signature };
  event('wrong signature', '198.51.100.1', forged(), headers);
});
const garbage = JSON.stringify({ notes: 'x'.repeat(LARGEST_BODY - '{"notes":""}'.length) });
paced(15, () => event('garbage', '198.51.100.2', garbage));
paced(5, () => event('garbage of many', anyNetwork(), garbage.slice(0, -1)));
paced(20, () => send('guess', '/flows', { headers: { ...bearer('guess'), 'x-forwarded-for': '198.51.100.3' } }));
paced(5, () => send('list', '/events?limit=500', { headers: bearer(greedyToken) }));
const card = { number: '4111111111111111', expiryMonth: '12', expiryYear: '2030', cvv: '123' };
paced(50, () =>
  send('card', '/card-tokens', {
    method: 'POST',
    headers: { ...JSON_BODY, ...bearer(greedyToken) },
    body: JSON.stringify({ card }),
  }),
);
// The first token reaches its own limit in half a minute, all of them together theirs a little later.
for (const [n, token] of pollTokens.entries()) {
  const poll = { from: `127.0.0.${FIRST_POLLER + n}`, headers: bearer(token) };
  paced(n === 0 ? 20 : 10, () => send('wait', `/flows/bridge-transfer/${waitedFor}/wait?timeoutSeconds=60`, poll));
}

const head = `POST ${SETTLEMENT_PATH} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n`;
const slow = (what: string, from: string): void => {
  const socket = dial(
    what,
    from,
    `${head}X-Forwarded-For: ${anyNetwork()}\r\nContent-Length: ${LARGEST_BODY}\r\n\r\n{`,
  );
  const timer = setInterval(() => socket.write('"'), 1_000);
  socket.on('close', () => clearInterval(timer));
};
paced(10, () => slow('slow', SLOW));
paced(10, () => slow('slow of many', PROXY));
paced(20, () => void dial('idle', IDLE));
const flood = async (): Promise<void> => {
  for (let dialled = 0; dialled < FLOOD; dialled += DIALLED_AT_ONCE) {
    for (let n = 0; n < DIALLED_AT_ONCE; n += 1) dial('flood', IDLE);
    await sleep(DIALLED_EVERY_MS);
  }
};
paced(1 / 60, () => void flood());
const PIPELINED = 100;
const pipelined = (body: string): string => `${head}Content-Length: ${body.length}\r\n\r\n${body}`.repeat(PIPELINED);
const [small, large] = [pipelined('{}'), pipelined(garbage)];
paced(1, () => void dial('pipelined', PIPELINING, small, PIPELINED));
paced(0.25, () => void dial('pipelined 64 KiB', PIPELINING, large, PIPELINED));

const hanging = createServer(() => undefined).listen(0, '127.0.0.1');
await new Promise((resolve) => {
  hanging.once('listening', resolve);
});
const { port } = hanging.address() as AddressInfo;
// In half an hour more receivers hang than P14 asks for.
paced(0.3, () => {
  const reference = `hung-${randomUUID()}`;
  const callbackUrl = `http://${reference}.localhost:${port}/hangs`;
  send('transfer whose receiver hangs', '/flows/bridge-transfer', {
    method: 'POST',
    headers: { ...JSON_BODY, ...bearer(hangingToken) },
    body: JSON.stringify({ ...transferInput, provider_reference_id: reference, callbackUrl }),
  });
});

// Nothing is closed first: thousands of sockets would take longer than there is time.
const stop = (): void => {
  writeFileSync(answersFile, JSON.stringify(Object.fromEntries(answers)));
  process.exit(0);
};
process.once('SIGTERM', stop);
process.once('disconnect', stop);
process.send?.({ kind: 'ready' });
