import { connect, type Socket } from 'node:net';
import { once } from 'node:events';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { GatewayOptions } from '../../src/gateway/index.js';
import { REQUEST_LIMITS } from '../../src/gateway/http/server.js';
import { statesOf } from '../store/states-of.js';
import { until } from '../harness/until.js';
import { SETTLEMENT_SECRET } from '../harness/fixed.js';
import { newReference } from '../harness/references.js';
import { settlement } from '../harness/inputs.js';
import { gatewayUnderTest, type GatewayUnderTest } from './setup/gateway-under-test.js';
import { sentBy } from './setup/hmac-mutants.js';
import { rawRequest } from './setup/raw-request.js';
import { signed } from './setup/sign.js';

const SETTLEMENT_PATH = '/api/v3/deposit/crypto-bridge/webhook/provider/settlement';
const WRONG_SECRET = `whsec_${Buffer.alloc(24, 1).toString('base64')}`;
const times = (count: number) => Array.from({ length: count }, (_, n) => n);

let tested: GatewayUnderTest;
let sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  sockets = [];
  await tested.close();
});

let monotonicMs = 0;
const open = async (env: Record<string, string> = {}, gateway: Partial<GatewayOptions> = {}) => {
  monotonicMs = 0;
  tested = await gatewayUnderTest({
    temporalAddress: '127.0.0.1:1',
    gateway: { monotonicMs: () => monotonicMs, ...gateway },
    env: { UNPROVEN_RATE_LIMIT: '1', TRUSTED_PROXIES: '127.0.0.1', ...env },
  });
};
const bodyOf = (n: number, more: object = {}) =>
  JSON.stringify(settlement(newReference(), 'COMPLETED', { n, ...more }));
/** The test acts as a proxy, so that requests may come from any address. */
const from = (address: string, body: string, headers: Record<string, string> = {}, path = SETTLEMENT_PATH) =>
  rawRequest(tested.url, path, body, { 'x-forwarded-for': address, ...headers }).then(({ status }) => status);
const count = (statuses: readonly number[]): Record<number, number> =>
  Object.fromEntries([...new Set(statuses)].map((status) => [status, statuses.filter((one) => one === status).length]));

/** A connection, with what was answered on it so far. */
async function dial(localAddress?: string) {
  const { hostname, port } = new URL(tested.url);
  const socket = connect({
    host: hostname,
    port: Number(port),
    ...(localAddress === undefined ? {} : { localAddress }),
  });
  sockets.push(socket);
  const seen = { text: '', closed: false };
  socket.on('data', (chunk: Buffer) => (seen.text += chunk.toString()));
  socket.on('close', () => (seen.closed = true));
  socket.on('error', () => undefined);
  await Promise.race([once(socket, 'connect'), once(socket, 'close')]).catch(() => undefined);
  return { socket, seen };
}
/** Sockets that announce 64 KiB for this URL, and send no more than so many bytes of it. */
const slow = async (path: string, address: string, sockets: number, bytes = 65_000) => {
  const dialled = await Promise.all(times(sockets).map(() => dial()));
  for (const { socket } of dialled) {
    socket.write(
      `POST ${path} HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: ${address}\r\n` +
        `Content-Type: application/json\r\nContent-Length: 65536\r\n\r\n${' '.repeat(bytes)}`,
    );
  }
};

const statusesIn = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status));

describe('fault 57: what comes without proof', () => {
  it('is charged to its address by its announced length, before any of its body is read', async () => {
    await open();
    const headers = [
      `POST ${SETTLEMENT_PATH} HTTP/1.1`,
      'Host: localhost',
      'X-Forwarded-For: 203.0.113.9',
      'Content-Type: application/json',
      'Content-Length: 65536',
      '',
      '',
    ].join('\r\n');
    // 16 units of 4 KiB each: the eighth finds what ten seconds allow used up. Not one byte of a body is ever sent.
    const dialled = await Promise.all(times(8).map(() => dial()));
    for (const { socket } of dialled) socket.write(headers);
    await until('the last one to be refused', () => dialled.some(({ seen }) => statusesIn(seen.text).includes(429)));
    expect(dialled.flatMap(({ seen }) => statusesIn(seen.text))).toEqual([429]);
    expect(await from('203.0.113.10', bodyOf(0))).toBe(200);
  });

  it('is charged if its signature is wrong, too', async () => {
    await open();
    const forge = (n: number) => {
      const body = bodyOf(n);
      return from('203.0.113.9', body, signed(WRONG_SECRET, body));
    };
    const statuses = await Promise.all(times(40).map(forge));
    expect(count(statuses)).toEqual({ 401: 10, 429: 30 });
    monotonicMs = 2_000;
    expect(count(await Promise.all(times(5).map(forge)))).toEqual({ 401: 2, 429: 3 });
  });

  it('is limited in total, however many addresses it has; others are accepted meanwhile, with a proof or by their own URL', async () => {
    await open({ WEBHOOK_SECRETS: WRONG_SECRET });
    const network = (n: number) => `2001:db8:${n.toString(16)}::1`;
    const forged = await Promise.all(times(150).map((n) => from(network(n), bodyOf(n))));
    expect(count(forged)).toEqual({ 200: 100, 429: 50 });
    const proven = times(50).map((n) => bodyOf(n));
    const answers = await Promise.all([
      ...proven.map((body) => from('203.0.113.50', body, signed(SETTLEMENT_SECRET, body))),
      ...proven.map((body, n) => from(network(n), body, signed(SETTLEMENT_SECRET, body))),
    ]);
    expect(count(answers)).toEqual({ 200: 100 });
    // The service should have signed it, so it proves nothing.
    expect(await from(network(0), bodyOf(0), {}, tested.callbackPath(newReference()))).toBe(200);
  });

  it('is not all that counts: a proven event that is sent again and again is limited as well, and new ones are not', async () => {
    await open();
    const send = (body: string) => from('203.0.113.9', body, signed(SETTLEMENT_SECRET, body));
    const sent: string[] = [];
    // As many at one time as may come without proof.
    for (const n of times(3)) {
      const bodies = times(50).map((index) => bodyOf(n * 50 + index));
      expect(count(await Promise.all(bodies.map(send)))).toEqual({ 200: 50 });
      sent.push(...bodies);
    }
    const [again = ''] = sent;
    expect(count(await Promise.all(times(150).map(() => send(again))))).toEqual({ 200: 100, 429: 50 });
    monotonicMs = 1_000;
    expect(count(await Promise.all(times(20).map(() => send(again))))).toEqual({ 200: 10, 429: 10 });
  });

  it('but the URL of its flow is limited for each flow, unless it is a repeat', async () => {
    await open();
    const [url, another] = [tested.callbackPath(newReference()), tested.callbackPath(newReference())];
    const send = (path: string, n: number) => from(`203.0.113.${n % 250}`, JSON.stringify({ n }), {}, path);
    expect(count(await Promise.all(times(100).map(() => send(url, 0))))).toEqual({ 200: 100 });
    expect(count(await Promise.all(times(300).map((n) => send(url, n + 1))))).toEqual({ 200: 255, 429: 45 });
    expect(await send(another, 1)).toBe(200);
    monotonicMs = 10_000;
    expect(count(await Promise.all([1_000, 1_001].map((n) => send(url, n))))).toEqual({ 200: 1, 429: 1 });
  });

  it('takes no place of a known client, though slow senders of many addresses have all places of unknown clients', async () => {
    await open({ UNPROVEN_RATE_LIMIT: '0' });
    const known = '203.0.113.60';
    const proven = bodyOf(0);
    expect(await from(known, proven, signed(SETTLEMENT_SECRET, proven))).toBe(200);
    // 1 MiB of one address each.
    for (const n of times(8)) await slow(SETTLEMENT_PATH, `2001:db8:${n}::1`, 64);
    const stranger = () => from('198.51.100.1', bodyOf(1));
    await until('strangers to have no place any more', async () => (await stranger()) === 503);
    const more = bodyOf(2);
    expect(await from(known, more, signed(SETTLEMENT_SECRET, more))).toBe(200);
    expect(await from('198.51.100.2', '{}', {}, tested.callbackPath(newReference()))).toBe(200);
  });

  it('takes a place by what it sends, not by what it announces: 448 slow senders keep out no provider at a new address', async () => {
    await open({ UNPROVEN_RATE_LIMIT: '0' });
    for (const n of times(8)) await slow(SETTLEMENT_PATH, `2001:db8:${n}::1`, 56, 0);
    await until('all of them to be there', async () => (await tested.get('/healthz')).status === 200);
    const body = bodyOf(0);
    expect(await from('203.0.113.60', body, signed(SETTLEMENT_SECRET, body))).toBe(200);
  });

  it('that finds no place while it is received is refused, and its connection is closed', async () => {
    await open({ UNPROVEN_RATE_LIMIT: '0' });
    await slow(SETTLEMENT_PATH, '2001:db8::1', 63);
    const { socket, seen } = await dial();
    socket.write(
      `POST ${SETTLEMENT_PATH} HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: 2001:db8::1\r\n` +
        'Content-Type: application/json\r\nContent-Length: 65536\r\n\r\n',
    );
    await until('it to have a place', async () => (await tested.get('/healthz')).status === 200);
    await slow(SETTLEMENT_PATH, '2001:db8::1', 1);
    await until('all to be taken', async () => (await from('2001:db8::1', bodyOf(0))) === 429);
    socket.write(' '.repeat(60_000));
    await until('its end', () => seen.closed);
    expect(statusesIn(seen.text)).toEqual([429]);
  });

  it('takes no place of other flows nor of known clients, though slow senders of many addresses have the URL of a flow', async () => {
    await open({ UNPROVEN_RATE_LIMIT: '0' });
    const path = tested.callbackPath(newReference());
    const [known, byUrlAlone] = ['203.0.113.60', '203.0.113.61'];
    const body = bodyOf(0);
    expect(await from(known, body, signed(SETTLEMENT_SECRET, body))).toBe(200);
    expect(await from(byUrlAlone, '{}', {}, path)).toBe(200);
    for (const n of times(9)) await slow(path, `2001:db8:${n}::1`, 64);
    const send = (address: string) => from(address, '{}', {}, path);
    await until('the places of unknown clients to be taken', async () => (await send('198.51.100.3')) === 429);
    expect([await send(byUrlAlone), await send(known)]).toEqual([429, 200]);
    expect(await from('198.51.100.2', '{}', {}, tested.callbackPath(newReference()))).toBe(200);
    expect(await from(known, body, signed(SETTLEMENT_SECRET, body))).toBe(200);
  });

  it('takes no place of the other addresses, known or not, if slow senders of one address have the URL of a flow', async () => {
    await open({ UNPROVEN_RATE_LIMIT: '0', WEBHOOK_SECRETS: WRONG_SECRET });
    const path = tested.callbackPath(newReference());
    await slow(path, '2001:db8::1', 64);
    await until('its places to be taken', async () => (await from('2001:db8::2', '{}', {}, path)) === 429);
    const { body, headers } = sentBy('standard-webhooks', WRONG_SECRET, {});
    expect(await from('203.0.113.60', body, headers as Record<string, string>, path)).toBe(200);
  });

  it.each([
    ['the account-wide URL', () => [new URL(tested.gateway.inbound.webhook).pathname]],
    ['the URLs of 16 flows', () => times(16).map(() => tested.callbackPath(newReference()))],
    ['the URL of the provider', () => [new URL(tested.gateway.inbound.settlement ?? '').pathname]],
  ])('takes no place of a known client, though slow senders have %s, which proves nothing', async (_, urls) => {
    await open({ UNPROVEN_RATE_LIMIT: '0', WEBHOOK_SECRETS: WRONG_SECRET, SETTLEMENT_TRUST: 'signed' });
    const known = '203.0.113.60';
    const [proven, more] = [bodyOf(0), bodyOf(1)];
    expect(await from(known, proven, signed(SETTLEMENT_SECRET, proven))).toBe(200);
    const paths = urls();
    for (const n of times(9)) {
      for (const path of paths) await slow(path, `2001:db8:${n}::1`, 64 / paths.length);
    }
    const stranger = () => from('2001:db8:ffff::1', '{}', {}, paths[0]);
    await until('the places of these URLs to be taken', async () => [429, 503].includes(await stranger()));
    expect(await from(known, more, signed(SETTLEMENT_SECRET, more))).toBe(200);
  });

  it('takes no place of other URLs, though slow senders of many addresses have the account-wide URL, which proves all', async () => {
    await open({ UNPROVEN_RATE_LIMIT: '0' });
    const path = new URL(tested.gateway.inbound.webhook).pathname;
    for (const n of times(9)) await slow(path, `2001:db8:${n}::1`, 64);
    const stranger = () => from('2001:db8:ffff::1', '{}', {}, path);
    await until('the places of this URL to be taken', async () => [429, 503].includes(await stranger()));
    expect(await from('198.51.100.2', '{}', {}, tested.callbackPath(newReference()))).toBe(200);
    expect(await from('198.51.100.3', bodyOf(0))).toBe(200);
  });

  it('of 50 addresses of one /64 counts as one', async () => {
    await open();
    const addresses = times(50).map((n) => `2001:db8:1:2:${n.toString(16)}::1`);
    const forged = await Promise.all(addresses.map((address, n) => from(address, bodyOf(n))));
    expect(count(forged)).toEqual({ 200: 10, 429: 40 });
  });

  it('keeps no genuine sender of the same address from its own URL, at 300 events a second and more', async () => {
    await open();
    const forged = await Promise.all(times(150).map((n) => from('203.0.113.9', bodyOf(n))));
    expect(count(forged)).toEqual({ 200: 10, 429: 140 });
    for (const round of times(5)) {
      const genuine = times(90).map((n) =>
        from('203.0.113.9', JSON.stringify({ round, n }), {}, tested.callbackPath(newReference())),
      );
      expect(count(await Promise.all(genuine))).toEqual({ 200: 90 });
    }
  });

  it('takes no more of the disk than its quota: the oldest of no flow goes first', async () => {
    await open({ UNPROVEN_RATE_LIMIT: '0', UNPROVEN_DISK_MB: '1', WEBHOOK_SECRETS: WRONG_SECRET });
    // 4 MB in all.
    for (const n of times(80)) {
      const ofNoFlow = JSON.stringify({ n, notes: 'x'.repeat(50_000) });
      await until('it to be taken', async () => (await from('203.0.113.9', ofNoFlow)) === 200);
    }
    expect(await tested.store.inbox.unprovenBytes()).toBeLessThan(1_100_000);
    expect((await tested.store.inbox.counts()).dropped).toBeGreaterThan(50);

    // Events on their way to a flow are never dropped: then only proven events are accepted.
    const waiting = (n: number) => bodyOf(n, { metadata: { notes: 'x'.repeat(50_000) } });
    await until('the quota to be full of them', async () => {
      const status = await from('203.0.113.9', waiting(0));
      return status === 429 && (await statesOf(tested.store.inbox)).unmatched === 0;
    });
    expect(await tested.store.inbox.unprovenBytes()).toBeLessThan(850_000);
    // Who has the URL of a flow finds room, even if nothing else proves the event.
    expect(await from('203.0.113.9', '{}', {}, tested.callbackPath(newReference()))).toBe(200);
    const proven = waiting(0);
    expect(await from('203.0.113.9', proven, signed(SETTLEMENT_SECRET, proven))).toBe(200);
  });
});

describe('fault 57: connections', () => {
  it('of one address are at most a quarter of all, so that others still get one', async () => {
    await open({ GATEWAY_MAX_CONNECTIONS: '40', TRUSTED_PROXIES: '203.0.113.1' });
    const greedy = await Promise.all(times(30).map(() => dial('127.0.0.2')));
    await until('those too many to be cut', () => greedy.filter(({ seen }) => seen.closed).length === 20);
    expect((await tested.get('/healthz')).status).toBe(200);
  });

  it('of unknown clients are three quarters of all at most, however many addresses they have: a known client still finds one', async () => {
    await open({ GATEWAY_MAX_CONNECTIONS: '40', TRUSTED_PROXIES: '203.0.113.1' });
    const known = await dial('127.0.0.9');
    known.socket.write(
      'GET /events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer dev-token\r\nConnection: close\r\n\r\n',
    );
    await until('it to have shown its token', () => known.seen.closed);
    expect(statusesIn(known.seen.text)).toEqual([200]);

    const addresses = times(6).map((n) => `127.0.0.${n + 2}`);
    const strangers = (await Promise.all(addresses.map((from) => Promise.all(times(10).map(() => dial(from)))))).flat();
    await until('those too many to be cut', () => strangers.filter(({ seen }) => seen.closed).length === 30);
    const again = await dial('127.0.0.9');
    again.socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
    await until('it to be answered', () => again.seen.closed);
    expect(statusesIn(again.seen.text)).toEqual([200]);
  });

  it('that are not used make room for a newcomer, the longest unused first, and those that are used stay', async () => {
    await open({ GATEWAY_MAX_CONNECTIONS: '40', TRUSTED_PROXIES: '203.0.113.1' });
    const health = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n';
    const addresses = times(3).map((n) => `127.0.0.${n + 2}`);
    const [first, ...others] = (
      await Promise.all(addresses.map((from) => Promise.all(times(10).map(() => dial(from)))))
    ).flat();
    first?.socket.write(
      `POST ${SETTLEMENT_PATH} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{}`,
    );
    for (const { socket } of others) socket.write(health);
    await until('all to be answered', () => others.every(({ seen }) => statusesIn(seen.text).length === 1));

    const newcomer = await dial('127.0.0.9');
    newcomer.socket.write(health);
    await until('it to be answered', () => statusesIn(newcomer.seen.text).length === 1);
    await until('one to be closed for it', () => others.filter(({ seen }) => seen.closed).length === 1);
    expect([newcomer.seen.closed, first?.seen.closed]).toEqual([false, false]);
  });

  it('whose answers are not read are cut, so that they are free for others', async () => {
    const requestLimits = { ...REQUEST_LIMITS, answerWithinMs: 500 };
    await open({ GATEWAY_MAX_CONNECTIONS: '8', TRUSTED_PROXIES: '203.0.113.1' }, { requestLimits });
    const large = 'GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: localhost\r\n\r\n';
    for (const { socket } of await Promise.all(times(2).map(() => dial('127.0.0.2')))) {
      socket.pause();
      socket.write(large.repeat(8));
    }
    await until('another one of that address to be served', async () => {
      const { socket, seen } = await dial('127.0.0.2');
      socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
      await until('its end', () => seen.closed);
      return statusesIn(seen.text).includes(200);
    });
  });

  it('that pipeline without end are cut', async () => {
    await open();
    const { socket, seen } = await dial();
    const request = `POST ${tested.callbackPath(newReference())} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`;
    socket.write(request.repeat(8));
    await until('eight answers', () => statusesIn(seen.text).length === 8);
    socket.write(request.repeat(200));
    await until('the end of the connection', () => seen.closed);
    expect((await tested.get('/healthz')).status).toBe(200);
  });

  it('that pipeline requests which are refused at once are cut as well, and get no hundred answers in one turn', async () => {
    await open();
    while ((await rawRequest(tested.url, SETTLEMENT_PATH, '{}')).status !== 429);
    const { socket, seen } = await dial();
    const request = `POST ${SETTLEMENT_PATH} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`;
    socket.write(request.repeat(100));
    await until('the end of the connection', () => seen.closed);
    expect(statusesIn(seen.text).length).toBeLessThanOrEqual(8);
  });
});

describe('guesses of tokens', () => {
  it('are limited for each address, and block no one who has a token', async () => {
    await open({ GATEWAY_RATE_LIMIT: '0' });
    const guess = (address: string) => from(address, '{}', { authorization: 'Bearer wrong' }, '/card-tokens');
    expect(count(await Promise.all(times(30).map(() => guess('203.0.113.9'))))).toEqual({ 401: 10, 429: 20 });
    expect(await guess('203.0.113.10')).toBe(401);
    expect(await from('203.0.113.9', '{}', { authorization: 'Bearer dev-token' }, '/card-tokens')).toBe(400);
  });
});
