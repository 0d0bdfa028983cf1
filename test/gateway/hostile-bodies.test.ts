import { mkdtemp, rm } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { inTurns } from '../faults/in-turns.js';
import { SETTLEMENT_SECRET } from './setup/gateway-under-test.js';
import { startKillable, type KillableGateway } from './setup/killable-gateway.js';
import { rawRequest } from './setup/raw-request.js';
import { percentiles, report } from './setup/report.js';
import { signed } from './setup/sign.js';
import { newReference, settlement } from './setup/transfers.js';
import { until } from './setup/until.js';

const PATH = '/api/v3/deposit/crypto-bridge/webhook/provider/settlement';
const LIMIT = 65_536;
const times = (count: number) => Array.from({ length: count }, (_, n) => n);

/** A process of its own, so that its memory and its event loop are its own. */
let gateway: KillableGateway;
let home: string;
const agent = new Agent({ keepAlive: true, maxSockets: 10 });
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'towline-hostile-'));
  gateway = await startKillable({
    GATEWAY_PORT: '0',
    TOWLINE_HOME: home,
    SETTLEMENT_SECRETS: SETTLEMENT_SECRET,
    TEMPORAL_ADDRESS: '127.0.0.1:1',
    GATEWAY_RATE_LIMIT: '0',
    LOG_LEVEL: 'silent',
  });
}, 60_000);
afterAll(async () => {
  agent.destroy();
  await gateway.kill();
  await rm(home, { recursive: true, force: true });
});

/** A signed settlement as any other, and how long its answer took. */
const honest = async () => {
  const body = JSON.stringify(settlement(newReference(), 'SETTLING'));
  const startedAt = performance.now();
  const { status } = await rawRequest(gateway.url, PATH, body, signed(SETTLEMENT_SECRET, body), agent);
  return { status, tookMs: performance.now() - startedAt };
};

/** Writes without end, or what it is given in pieces, and gives the status; 0 where the connection is cut under it. */
const stream = (piece: Buffer, pieces: number, headers: Record<string, string> = {}) =>
  new Promise<number>((resolve) => {
    const { hostname, port } = new URL(gateway.url);
    const options = { hostname, port, path: PATH, method: 'POST', agent: false as const };
    const sent = request({ ...options, headers: { 'content-type': 'application/json', ...headers } }, (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
      sent.destroy();
    });
    sent.on('error', () => resolve(0));
    let left = pieces;
    const write = () => {
      while (left > 0 && !sent.destroyed) {
        left -= 1;
        if (!sent.write(piece)) {
          sent.once('drain', write);
          return;
        }
      }
      sent.end();
    };
    write();
  });

const whole = (body: string | Buffer, headers: Record<string, string> = {}) =>
  rawRequest(gateway.url, PATH, body, headers).then(
    ({ status }) => status,
    () => 0,
  );
const keys = (count: number, name: (n: number) => string) =>
  `{${times(count)
    .map((n) => `"${name(n)}":1`)
    .join(',')}}`;
const zeros = Buffer.alloc(32 * 2 ** 20);
const [GZIP, DEFLATE, BROTLI] = [gzipSync(zeros), deflateSync(zeros), brotliCompressSync(zeros)];
const MILLION = Buffer.from(keys(1_000_000, (n) => `k${n}`));

/** Whoever sends far too much may find the connection cut before the answer: that is 0. */
const ATTACKS: readonly (readonly [string, readonly number[], () => Promise<number>])[] = [
  ['64 KiB + 1', [413], () => whole(JSON.stringify({ a: 'x'.repeat(LIMIT + 1 - 8) }))],
  ['64 KiB + 1, chunked', [413], () => stream(Buffer.alloc(LIMIT + 1, 0x20), 1)],
  ['chunked without end', [413, 0], () => stream(Buffer.alloc(LIMIT, 0x20), 1_000)],
  ['a length of ten gigabytes', [413, 0], () => stream(Buffer.from('{'), 1, { 'content-length': '10000000000' })],
  ['a million keys', [413, 0], () => whole(MILLION)],
  ['as many keys as fit', [200], () => whole(keys(7_000, (n) => n.toString(36)))],
  ['one key as often as fits', [400], () => whole(keys(10_000, () => 'k'))],
  ['33 levels', [400], () => whole('['.repeat(33) + ']'.repeat(33))],
  ['30,000 levels', [400], () => whole('['.repeat(30_000) + ']'.repeat(30_000))],
  ['60,000 levels of objects that do not end', [400], () => whole('{"a":'.repeat(12_000))],
  ['a number of 60,000 digits', [200], () => whole(`{"amount":${'9'.repeat(60_000)}}`)],
  ['60,000 escapes', [200], () => whole(`{"a":"${'\\u0041'.repeat(10_000)}"}`)],
  ['a gzip bomb', [415], () => whole(GZIP.subarray(0, LIMIT), { 'content-encoding': 'gzip' })],
  ['a deflate bomb', [415], () => whole(DEFLATE.subarray(0, LIMIT), { 'content-encoding': 'deflate' })],
  ['a brotli bomb', [415], () => whole(BROTLI, { 'content-encoding': 'br' })],
  ['a bomb in a bomb', [415], () => whole(gzipSync(GZIP), { 'content-encoding': 'gzip, gzip' })],
  ['a bomb that says nothing of it', [400], () => whole(BROTLI)],
];

describe('fault 41: bodies that are too much', () => {
  it('40 of each of 17 are refused, memory + at most 50 MB, and honest events are taken meanwhile', async () => {
    await inTurns(times(400), 10, honest);
    await inTurns(times(100), 10, () => whole(keys(7_000, (n) => n.toString(36))));
    const before = await gateway.measure();

    const taken: number[] = [];
    const over = new AbortController();
    const meanwhile = (async () => {
      while (!over.signal.aborted) taken.push((await honest()).status);
    })();
    const wrong: string[] = [];
    for (const [what, expected, send] of ATTACKS) {
      for (const status of await inTurns(times(40), 8, send)) {
        if (!expected.includes(status)) wrong.push(`${what}: ${status}`);
      }
    }
    over.abort();
    await meanwhile;
    const after = await gateway.measure();
    const grownMb = Math.max(0, after.peakMb - before.peakMb);
    report(
      `fault 41: ${40 * ATTACKS.length} bodies, memory + ${grownMb.toFixed(0)} MB (peak ${after.peakMb.toFixed(0)} MB), ` +
        `event loop stall p99 ${after.stallP99Ms.toFixed(0)} ms, max ${after.stallMaxMs.toFixed(0)} ms`,
    );
    expect(wrong).toEqual([]);
    expect(new Set(taken)).toEqual(new Set([200]));
    expect(grownMb).toBeLessThanOrEqual(50);
  }, 120_000);
});

describe('fault 42: 2,000 slow sockets', () => {
  it('keep no honest event from being taken, and are cut', async () => {
    const { hostname, port } = new URL(gateway.url);
    let open = 0;
    const head = `POST ${PATH} HTTP/1.1\r\nhost: x\r\n`;
    const beginnings = ['', head, `${head}content-type: application/json\r\ncontent-length: 60000\r\n\r\n{"a":"`];
    const openSlow = (n: number) =>
      new Promise<Socket>((resolve, reject) => {
        const socket = connect({ host: hostname, port: Number(port) }, () => {
          open += 1;
          socket.write(beginnings[n % 3] ?? '');
          resolve(socket);
        });
        socket.on('close', () => (open -= 1)).on('error', reject);
        socket.resume();
      });
    // In hundreds, each accepted before the next. Where more wait than a server's queue holds, the kernel forgets some, and
    // whoever was forgotten and sends nothing believes itself connected for ever.
    const sockets: Socket[] = [];
    for (const hundred of times(20)) {
      sockets.push(...(await Promise.all(times(100).map((n) => openSlow(100 * hundred + n)))));
      await whole('{}');
    }
    // They go on, a byte now and then, so that none of them is merely idle.
    const drip = setInterval(() => {
      for (const [n, socket] of sockets.entries()) if (n % 3 !== 0 && socket.writable) socket.write('x');
    }, 1_000);
    const answers = await inTurns(times(1_000), 10, honest);
    const openThen = open;
    await until('every slow socket to be cut', () => open === 0, 60_000);
    clearInterval(drip);
    const { p50, p99 } = percentiles(answers.map(({ tookMs }) => tookMs));
    report(`fault 42: ${openThen} slow sockets open after 1,000 honest events, p50 ${p50} ms, p99 ${p99} ms`);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  }, 120_000);
});
