import { once } from 'node:events';
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A whole request on the wire, and the status of its answer; null while there is none, or if it is not HTTP. */
export interface WireRequest {
  readonly method: string;
  readonly path: string;
  readonly body: string;
  readonly status: number | null;
  /** Epoch ms: when the request was complete, and when the first byte of its answer came; null while there is none. */
  readonly atMs: number;
  readonly answeredAtMs: number | null;
  /** The process that sent it, or that it was for, if the wire is that process's own. */
  readonly who?: string;
}

type Seen = { -readonly [Member in keyof WireRequest]: WireRequest[Member] };

/** What was seen on one wire or on several. */
export interface WireRecord {
  requests(): readonly WireRequest[];
  close(): void;
}

/**
 * `asked`: the request is complete, and has not been passed on. `answering`: its answer has begun, and has not been
 * passed on. `answered`: the answer's first bytes have been passed on.
 */
export type Moment = 'asked' | 'answering' | 'answered';

/** Called at each moment. What it returns is awaited before anything more is passed on. */
export type Gate = (moment: Moment, request: WireRequest) => Promise<void> | undefined;

export interface Wire {
  /** The URL for requests to the target. */
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
}

export interface WireLog extends Pick<Wire, 'url' | 'close'> {
  requests(): readonly WireRequest[];
}

interface Recorder extends WireRecord {
  asked(request: Pick<WireRequest, 'method' | 'path' | 'body' | 'who'>): { readonly request: Seen; readonly n: number };
  answered(seen: { readonly request: Seen; readonly n: number }, status: number): void;
}

/** @param file what was seen is appended there, too, for a process that reads it later (`readWire`) */
export function openWireRecord(file?: string): Recorder {
  const seen: Seen[] = [];
  const log = file === undefined ? undefined : openSync(file, 'a', 0o600);
  const append = (line: object): void => void (log !== undefined && writeSync(log, `${JSON.stringify(line)}\n`));
  return {
    requests: () => seen,
    asked(read) {
      const request: Seen = { ...read, status: null, atMs: Date.now(), answeredAtMs: null };
      const n = seen.push(request);
      append({ n, ...request });
      return { request, n };
    },
    answered({ request, n }, status) {
      request.status = status;
      request.answeredAtMs = Date.now();
      append({ n, status, answeredAtMs: request.answeredAtMs });
    },
    close: () => void (log !== undefined && closeSync(log)),
  };
}

/** What a record has written to its file so far. */
export function readWire(file: string): readonly WireRequest[] {
  const seen: WireRequest[] = [];
  for (const line of readFileSync(file, 'utf8').split('\n').slice(0, -1)) {
    const { n, ...more } = JSON.parse(line) as WireRequest & { readonly n: number };
    seen[n - 1] = { ...seen[n - 1], ...more };
  }
  return seen;
}

/** One wire with a record of its own. */
export async function startWireLog(target: string): Promise<WireLog> {
  const record = openWireRecord();
  const wire = await openWire(target, record);
  return { url: wire.url, requests: () => record.requests(), close: () => wire.close() };
}

/** Passes bytes on in both directions, cuts and resets included, and counts the requests that it sees. */
export async function openWire(
  target: string,
  record: Recorder,
  { who, gate }: { readonly who?: string; readonly gate?: Gate } = {},
): Promise<Wire> {
  const own = who === undefined ? {} : { who };
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();

  const server = createServer({ allowHalfOpen: true }, (client) => {
    const upstream = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    client.setNoDelay(true);
    upstream.setNoDelay(true);
    let unread = Buffer.alloc(0);
    let latest: ReturnType<Recorder['asked']> | undefined;
    /** Over when no answer is held: a service that closes its connection meanwhile has answered before. */
    let answering = Promise.resolve();
    client.on('data', (bytes: Buffer) => {
      unread = Buffer.concat([unread, bytes]);
      const holds: (Promise<void> | undefined)[] = [];
      for (let read = firstRequest(unread); read !== undefined; read = firstRequest(unread)) {
        latest = record.asked({ ...read.request, ...own });
        unread = unread.subarray(read.length);
        holds.push(gate?.('asked', latest.request));
      }
      void pass(client, upstream, bytes, holds);
    });
    upstream.on('data', (bytes: Buffer) => {
      const [, status] = /^HTTP\/1\.[01] (\d{3})/.exec(bytes.toString('latin1', 0, 12)) ?? [];
      const answered = latest?.request.status === null && status !== undefined ? latest : undefined;
      // What follows is more of the same answer.
      latest = undefined;
      if (answered === undefined) {
        void pass(upstream, client, bytes, []);
        return;
      }
      record.answered(answered, Number(status));
      answering = pass(upstream, client, bytes, [gate?.('answering', answered.request)], () => {
        void gate?.('answered', answered.request);
      });
    });
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      const passedOn = async (act: () => void) => {
        if (from === upstream) await answering;
        act();
      };
      from.on('end', () => void passedOn(() => to.end()));
      from.on('error', () => void passedOn(() => to.resetAndDestroy()));
      from.on('close', () => {
        sockets.delete(from);
        void passedOn(() => to.destroySoon());
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const listensAt = (server.address() as AddressInfo).port;
  return {
    url: `http://127.0.0.1:${listensAt}`,
    port: listensAt,
    async close() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** Nothing more is read while bytes are held. @returns when they are passed on, or dropped */
async function pass(
  from: Socket,
  to: Socket,
  bytes: Buffer,
  holds: readonly (Promise<void> | undefined)[],
  passed?: () => void,
): Promise<void> {
  const held = holds.filter((hold) => hold !== undefined);
  if (held.length > 0) {
    from.pause();
    await Promise.all(held);
    // A process that was killed meanwhile has sent no request, and gets no answer.
    if (passed === undefined ? from.destroyed : to.destroyed) return;
  }
  if (!to.destroyed) to.write(bytes);
  passed?.();
  if (held.length > 0) from.resume();
}

/** Undefined while it is not there whole. @throws Error if its body has no length: what cannot be counted must not pass */
function firstRequest(
  bytes: Buffer,
): { request: Pick<WireRequest, 'method' | 'path' | 'body'>; length: number } | undefined {
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd < 0) return undefined;
  const head = bytes.toString('latin1', 0, headEnd);
  const [, method = '', path = ''] = /^(\S+) (\S+) HTTP\/1\.1/.exec(head) ?? [];
  if (/^transfer-encoding:/im.test(head)) throw new Error('the wire log reads no body without a length');
  const bodyLength = Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0);
  const start = headEnd + 4;
  if (bytes.length < start + bodyLength) return undefined;
  const body = bytes.toString('utf8', start, start + bodyLength);
  return { request: { method, path, body }, length: start + bodyLength };
}
