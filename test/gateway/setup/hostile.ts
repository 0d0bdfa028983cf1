import { Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { inTurns } from '../../../src/in-turns.js';
import { until } from '../../harness/until.js';
import { rawRequest } from './raw-request.js';
import { signed } from './sign.js';
import { SETTLEMENT_SECRET } from '../../harness/fixed.js';
import { newReference } from '../../harness/references.js';
import { settlement } from '../../harness/inputs.js';

const PATH = '/api/v3/deposit/crypto-bridge/webhook/provider/settlement';
const LIMIT = 65_536;
const times = (count: number): readonly number[] => Array.from({ length: count }, (_, n) => n);

export interface Sender {
  /** A signed settlement like any other. @returns the status, and how long the answer took */
  honest(): Promise<{ readonly status: number; readonly tookMs: number }>;
  close(): void;
}

/** An honest sender, over ten connections that stay open. */
export function honestSender(url: string): Sender {
  const agent = new Agent({ keepAlive: true, maxSockets: 10 });
  return {
    async honest() {
      const body = JSON.stringify(settlement(newReference('honest'), 'SETTLING'));
      const startedAt = performance.now();
      const { status } = await rawRequest(url, PATH, body, signed(SETTLEMENT_SECRET, body), agent);
      return { status, tookMs: performance.now() - startedAt };
    },
    close: () => agent.destroy(),
  };
}

/** Writes endlessly, or the given pieces, and returns the status; 0 if the connection is cut. */
const streamTo =
  (url: string) =>
  (piece: Buffer, pieces: number, headers: Record<string, string> = {}) =>
    new Promise<number>((resolve) => {
      const { hostname, port } = new URL(url);
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

const wholeTo =
  (url: string) =>
  (body: string | Buffer, headers: Record<string, string> = {}) =>
    rawRequest(url, PATH, body, headers).then(
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

/** A sender of far too much may find the connection cut before the answer: that is 0. */
const attacksOn = (
  whole: ReturnType<typeof wholeTo>,
  stream: ReturnType<typeof streamTo>,
): readonly (readonly [string, readonly number[], () => Promise<number>])[] => [
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

/** What a gateway works through before its memory is measured: as much as the bodies that it must read anyway. */
export async function warmUp(url: string, sender: Sender): Promise<void> {
  await inTurns(times(400), 10, () => sender.honest());
  await inTurns(times(100), 10, () => wholeTo(url)(keys(7_000, (n) => n.toString(36))));
}

/**
 * Sends each body this many times, with honest events beside them. @returns how many bodies, wrong answers, and the
 * honest ones' statuses
 */
export async function sendHostileBodies(url: string, sender: Sender, each: number) {
  const honest: number[] = [];
  const over = new AbortController();
  const meanwhile = (async () => {
    while (!over.signal.aborted) honest.push((await sender.honest()).status);
  })();
  const wrong: string[] = [];
  const attacks = attacksOn(wholeTo(url), streamTo(url));
  for (const [what, expected, send] of attacks) {
    for (const status of await inTurns(times(each), 8, send)) {
      if (!expected.includes(status)) wrong.push(`${what}: ${status}`);
    }
  }
  over.abort();
  await meanwhile;
  return { sent: each * attacks.length, wrong, honest };
}

/**
 * Opens this many sockets that send a byte a second, posts honest events beside them, and waits until all slow ones are
 * cut.
 */
export async function openSlowSockets(
  url: string,
  sender: Sender,
  { sockets: count, honest }: { readonly sockets: number; readonly honest: number },
) {
  const { hostname, port } = new URL(url);
  let open = 0;
  let opened = 0;
  const head = `POST ${PATH} HTTP/1.1\r\nhost: localhost\r\n`;
  const beginnings = ['', head, `${head}content-type: application/json\r\ncontent-length: 60000\r\n\r\n{"a":"`];
  const openSlow = (n: number) =>
    new Promise<Socket>((resolve, reject) => {
      const socket = connect({ host: hostname, port: Number(port) }, () => {
        open += 1;
        opened += 1;
        socket.write(beginnings[n % 3] ?? '');
        resolve(socket);
      });
      socket.on('close', () => (open -= 1)).on('error', reject);
      socket.resume();
    });
  // In hundreds, each accepted before the next. If more wait than a server's queue holds, the kernel forgets some, and
  // a forgotten one that sends nothing believes itself connected for ever.
  const sockets: Socket[] = [];
  for (let at = 0; at < count; at += 100) {
    sockets.push(...(await Promise.all(times(Math.min(100, count - at)).map((n) => openSlow(at + n)))));
    await wholeTo(url)('{}');
  }
  // They continue, a byte now and then, so that none of them is merely idle.
  const drip = setInterval(() => {
    for (const [n, socket] of sockets.entries()) if (n % 3 !== 0 && socket.writable) socket.write('x');
  }, 1_000);
  try {
    const answers = await inTurns(times(honest), 10, () => sender.honest());
    const openThen = open;
    await until('every slow socket to be cut', () => open === 0);
    return { opened, openThen, answers };
  } finally {
    clearInterval(drip);
    for (const socket of sockets) socket.destroy();
  }
}
