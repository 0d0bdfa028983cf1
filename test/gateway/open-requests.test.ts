import { once, setMaxListeners } from 'node:events';
import { Agent, request, type ClientRequest } from 'node:http';
import { connect } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { createFlowWatch } from '../../src/gateway/flows/flow-watch.js';
import { closeServer, createServer } from '../../src/gateway/http/server.js';
import { createPlaces } from '../../src/gateway/http/places.js';
import { codec as codecServer } from '../../src/gateway/ops/codec.js';
import type { Store } from '../../src/store/store.js';
import type { FlowFacts } from '../../src/temporal/flow-handle.js';
import { newReference } from '../harness/references.js';
import { transferInput } from '../harness/inputs.js';
import { until } from '../harness/until.js';
import { bareServer } from './setup/bare-server.js';
import { gatewayUnderTest, type GatewayUnderTest } from './setup/gateway-under-test.js';
import { rawRequest } from './setup/raw-request.js';
import { settled, virtualClock } from './setup/virtual-clock.js';

const times = (count: number) => Array.from({ length: count }, (_, n) => n);
describe('the places for requests at the gateway', () => {
  it('are so many for each name and so many in all, and are free again when they are given back', () => {
    const places = createPlaces({ what: 'orders', most: 3 });
    const take = (name: string) => places.take({ [name]: 2 });
    const taken = [take('a'), take('a')];
    expect(() => take('a')).toThrow(expect.objectContaining({ status: 429, retryAfter: 1 }));
    take('b');
    expect(() => take('b')).toThrow(expect.objectContaining({ status: 503, retryAfter: 1 }));
    taken[0]?.free();
    taken[0]?.free();
    take('b');
    expect(() => take('c')).toThrow(expect.objectContaining({ status: 503 }));
  });

  it('are three quarters of all for those that leave room, and a request that grows finds no more than one that begins', () => {
    const places = createPlaces({ what: 'events', most: 8 });
    const unknown = places.take({ a: 100 }, { units: 5, leavesRoom: true });
    unknown.grow(1);
    expect(() => unknown.grow(1)).toThrow(expect.objectContaining({ status: 503 }));
    const known = places.take({ b: 2 });
    known.grow(1);
    expect(() => known.grow(1)).toThrow(expect.objectContaining({ status: 429 }));
    unknown.free();
    // Its last bytes come when it has been answered.
    unknown.grow(6);
    places.take({ a: 100 }, { units: 6, leavesRoom: true });
  });
});

describe('a request whose caller hangs up', () => {
  it.each(['/flows', '/audit'])(
    'keeps its place in %s until its work has ended, so that no caller has more in progress than allowed',
    async (path) => {
      const { server, listen, headersOf } = bareServer('flows', 'ann');
      const underWay: (() => void)[] = [];
      server.get(path, { config: { isList: true, permission: 'view' } }, async (_request, reply) => {
        await new Promise<void>((resolve) => underWay.push(resolve));
        return reply.send({});
      });
      const url = await listen();
      const ask = async (signal: AbortSignal) =>
        (await fetch(url + path, { headers: headersOf('ann'), signal })).status;
      for (const n of times(16)) {
        const hangsUp = new AbortController();
        const asked = ask(hangsUp.signal).catch(() => 'hung up');
        await until('its work to begin', () => underWay.length === n + 1);
        hangsUp.abort();
        expect(await asked).toBe('hung up');
      }
      await until('the ends of their connections', async () => (await countConnections(server)) === 0);
      expect(await ask(new AbortController().signal)).toBe(429);
      underWay[0]?.();
      const waits = ask(new AbortController().signal);
      await until('its work to begin', () => underWay.length === 17);
      for (const end of underWay) end();
      expect(await waits).toBe(200);
      await server.close();
    },
  );
});

describe('a scrape of the gateway by the monitoring', () => {
  it('is answered while other tokens read as much as all together may', async () => {
    const { server, headersOf } = bareServer('operator', 'ann', 'bob', 'cyn', 'dan', 'prometheus');
    const underWay: (() => void)[] = [];
    server.get('/flows/:kind/:reference', { config: { permission: 'view' } }, async (_request, reply) => {
      await new Promise<void>((resolve) => underWay.push(resolve));
      return reply.send({});
    });
    server.get('/metrics', { config: { permission: 'read-metrics' } }, async (_request, reply) => reply.send(''));
    const ask = async (name: string, url: string) =>
      (await server.inject({ url, headers: headersOf(name) })).statusCode;
    const reads = ['ann', 'bob', 'cyn', 'dan'].flatMap((name) => times(768).map(() => ask(name, '/flows/onramp/a')));
    await until('all reads to be under way', () => underWay.length === reads.length);
    expect(await ask('prometheus', '/flows/onramp/a')).toBe(503);
    expect(await ask('prometheus', '/metrics')).toBe(200);
    for (const end of underWay) end();
    expect(new Set(await Promise.all(reads))).toEqual(new Set([200]));
    await server.close();
  });
});

describe('a gateway that ends', () => {
  it('lets what the service was asked for come to its end, and cuts it only when even the service has had its time', async () => {
    for (const isLetGo of [true, false]) {
      const server = createServer(pino({ level: 'silent' }));
      let letGo: (() => void) | undefined;
      server.get('/key', async (_request, reply) => {
        await new Promise<void>((resolve) => (letGo = resolve));
        return reply.send({ key: 'made' });
      });
      const url = await server.listen({ host: '127.0.0.1', port: 0 });
      const asked = fetch(`${url}/key`).then(
        (answer) => answer.text(),
        () => 'cut',
      );
      await until('it to be under way', () => letGo !== undefined);
      const { clock, pass } = virtualClock();
      const closed = closeServer(server, 30_000, clock);
      await pass(29_000);
      if (isLetGo) letGo?.();
      else await pass(10_000);
      expect(await asked).toBe(isLetGo ? '{"key":"made"}' : 'cut');
      letGo?.();
      // Its connection is kept alive, and is closed at the next look.
      await pass(10_000);
      await closed;
    }
  });
});

const countConnections = (server: FastifyInstance): Promise<number> =>
  new Promise((resolve, reject) => {
    server.server.getConnections((error, count) => (error === null ? resolve(count) : reject(error)));
  });

describe('fault 57: waiting for a flow', () => {
  function watched() {
    const asked = new Map<string, number>();
    let state = 'running';
    const { clock, pass } = virtualClock();
    const reader = {
      facts: (flowId: string) => {
        asked.set(flowId, (asked.get(flowId) ?? 0) + 1);
        return Promise.resolve({ state } as FlowFacts);
      },
      show: () => Promise.resolve(undefined),
    };
    const watch = createFlowWatch(reader, new AbortController().signal, clock);
    return { asked, pass, watch, end: () => (state = 'completed') };
  }

  it('asks Temporal once a second, however many wait, and once at the end', async () => {
    const { asked, pass, watch, end } = watched();
    let over = 0;
    for (const _ of times(500)) void watch.untilStill('a', new AbortController().signal).then(() => (over += 1));
    await pass(10_000);
    expect(over).toBe(0);
    expect(asked.get('a')).toBeLessThan(20);
    end();
    await pass(1_000);
    await settled();
    expect(over).toBe(500);
    expect(asked.get('a')).toBeLessThan(22);
    await pass(10_000);
    expect(asked.get('a')).toBeLessThan(22);
  });

  it('ends with its callers, and asks Temporal at most 200 times a second about however many flows', async () => {
    const { asked, pass, watch } = watched();
    const gone = new AbortController();
    setMaxListeners(0, gone.signal);
    for (const n of times(1_000)) void watch.untilStill(`${n}`, gone.signal);
    await pass(10_000);
    const total = [...asked.values()].reduce((sum, count) => sum + count, 0);
    expect(total).toBeLessThanOrEqual(1_000 + 2_100);
    gone.abort();
    await pass(6_000);
    const before = [...asked.values()].reduce((sum, count) => sum + count, 0);
    await pass(60_000);
    expect([...asked.values()].reduce((sum, count) => sum + count, 0)).toBe(before);
  });
});

describe('the codec endpoint of the gateway', () => {
  it('has room for so many bytes at a time, of each token and of all: bodies are counted before they are read', async () => {
    const { server, listen, headersOf } = bareServer('operator', 'ann', 'bob', 'cyn', 'dan', 'eve');
    const none = () => Promise.resolve([]);
    const store = { audit: { append: () => Promise.resolve() } } as unknown as Store;
    const codec = { encode: none, decodeForPeople: none };
    void server.register(codecServer, { codec, store, settings: { development: false }, monotonicMs: () => 0 });
    const url = await listen();
    const decode = async (name: string) => {
      const headers = { ...headersOf(name), 'content-type': 'application/json' };
      return (await fetch(`${url}/codec/decode`, { method: 'POST', headers, body: '{"payloads":[]}' })).status;
    };
    /** Announces 4 MiB, and sends nothing. */
    const begin = async (name: string): Promise<ClientRequest> => {
      const headers = { ...headersOf(name), 'content-type': 'application/json', 'content-length': 4 * 1_024 * 1_024 };
      const begun = request(`${url}/codec/decode`, { method: 'POST', headers }).on('error', () => undefined);
      begun.flushHeaders();
      await until(`the places of ${name} to be taken`, async () => (await decode(name)) !== 200);
      return begun;
    };
    const first = await begin('ann');
    expect([await decode('ann'), await decode('bob')]).toEqual([429, 200]);
    const others = [];
    for (const name of ['bob', 'cyn', 'dan']) others.push(await begin(name));
    expect(await decode('eve')).toBe(503);
    first.destroy();
    await until('the places of the first to be free', async () => (await decode('ann')) === 200);
    expect(await decode('eve')).toBe(200);
    for (const other of others) other.destroy();
    await server.close();
  });
});

describe('fault 57: a token', () => {
  let tested: GatewayUnderTest;
  let monotonicMs = 0;
  const agent = new Agent({ keepAlive: true });
  beforeAll(async () => {
    tested = await gatewayUnderTest({
      env: { GATEWAY_RATE_LIMIT: '0', GATEWAY_TOKENS: 'ann:viewer:anns-secret,dev:admin:dev-token' },
      gateway: { monotonicMs: () => monotonicMs },
    });
  });
  afterAll(async () => {
    agent.destroy();
    await tested.close();
  });

  it('has the metrics printed once a second at most', async () => {
    const figures = jest.spyOn(tested.store, 'figures');
    const scrape = async () =>
      (await fetch(`${tested.url}/metrics`, { headers: { authorization: 'Bearer anns-secret' } })).status;
    for (const _ of times(3)) expect(new Set(await Promise.all(times(20).map(scrape)))).toEqual(new Set([200]));
    expect(figures.mock.calls.length).toBe(1);
    monotonicMs += 1_000;
    await scrape();
    expect(figures.mock.calls.length).toBe(2);
  });

  it('gets no answer to a HEAD, which would cost what a GET costs', async () => {
    const headers = { authorization: 'Bearer anns-secret' };
    const answer = await fetch(`${tested.url}/flows`, { method: 'HEAD', headers });
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, expect.stringContaining('GET')]);
  });

  it('gets its places back if it hangs up while answers are queued behind a wait of the same connection', async () => {
    const reference = newReference();
    expect((await tested.post('/flows/bridge-transfer', transferInput(reference))).status).toBe(201);
    const { hostname, port } = new URL(tested.url);
    const get = (path: string) =>
      `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer anns-secret\r\n\r\n`;
    const wait = get(`/flows/bridge-transfer/${reference}/wait?timeoutSeconds=300`);
    // Together more than the 768 reads that one token may have open.
    for (const _ of times(100)) {
      const socket = connect(Number(port), hostname);
      socket.write(wait + get('/whoami').repeat(7));
      await until('the connection to be read', () => socket.bytesWritten > 0 && !socket.connecting);
      await tested.get('/healthz');
      socket.destroy();
      await once(socket, 'close');
    }
    const path = `/flows/bridge-transfer/${reference}`;
    const headers = { authorization: 'Bearer anns-secret' };
    await until(
      'the read to be answered',
      async () => (await fetch(tested.url + path, { headers })).status === 200,
      5_000,
    );
  });

  it('has 768 open waits at most, and its orders and others are served meanwhile', async () => {
    const reference = newReference();
    expect((await tested.post('/flows/bridge-transfer', transferInput(reference))).status).toBe(201);
    const statuses: number[] = [];
    const path = `/flows/bridge-transfer/${reference}/wait?timeoutSeconds=300`;
    const waits = times(818).map(async () => {
      const headers = { authorization: 'Bearer anns-secret' };
      const { status } = await rawRequest(tested.url, path, '', headers, false, 'GET').catch(() => ({ status: 0 }));
      statuses.push(status);
    });
    await until('those too many to be refused', () => statuses.length >= 50);
    expect(statuses).toEqual(times(50).map(() => 429));
    const order = { method: 'POST', headers: { authorization: 'Bearer anns-secret' } };
    // A viewer may give none, and has a place to be told so.
    expect((await fetch(`${tested.url}/flows/bridge-transfer/${reference}/cancel`, order)).status).toBe(403);
    expect((await tested.get(`/flows/bridge-transfer/${reference}`)).status).toBe(200);
    expect((await tested.get(`/flows/bridge-transfer/${reference}/wait?timeoutSeconds=0`)).status).toBe(200);
    // Callers that still wait get the current flow.
    await tested.close();
    await Promise.all(waits);
    expect(statuses.filter((status) => status === 200)).toHaveLength(768);
  });
});
