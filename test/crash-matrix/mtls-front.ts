import {
  connect,
  constants,
  createSecureServer,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { SERVER } from './mtls-fixture.js';

export interface Admitted {
  /** PEM. */
  readonly certificates: readonly string[];
  readonly apiKeys: readonly string[];
}

interface Served {
  /** The name in the client's certificate. */
  readonly by: string;
  readonly apiKey: string;
  readonly path: string;
}

/** Stands before a Temporal server as Temporal Cloud does: TLS with a client certificate, and an API key on each request. */
export async function openMtlsFront(temporalAddress: string, first: Admitted) {
  let admitted = first;
  let refused = 0;
  const served: Served[] = [];
  const sessions = new Map<ServerHttp2Session, string>();
  const server = createSecureServer({ ...tlsOf(first), requestCert: true, rejectUnauthorized: true });
  server.on('sessionError', () => undefined);
  server.on('session', (session) => {
    const by = String((session.socket as TLSSocket).getPeerCertificate().subject.CN);
    const upstream = connect(`http://${temporalAddress}`);
    upstream.on('error', () => undefined);
    sessions.set(session, by);
    session.on('close', () => {
      sessions.delete(session);
      upstream.destroy();
    });
    session.on('stream', (stream, headers) => {
      const apiKey = headers.authorization?.replace(/^Bearer /, '') ?? '';
      if (!admitted.apiKeys.includes(apiKey)) {
        refused += 1;
        stream.respond({ ...GRPC, 'grpc-status': UNAUTHENTICATED }, { endStream: true });
        return;
      }
      served.push({ by, apiKey, path: String(headers[':path']) });
      passOn(stream, upstream.request({ ...headers, ':scheme': 'http' }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    served: served as readonly Served[],
    /** Requests with an API key that is not admitted. */
    refused: () => refused,
    /** New connections need one of these certificates, and all requests one of these API keys. */
    admit(next: Admitted) {
      admitted = next;
      server.setSecureContext(tlsOf(next));
    },
    isConnected: (by: string) => [...sessions.values()].includes(by),
    /** Ends every connection of a client, as Temporal does with each after some minutes. */
    endConnections(by: string) {
      for (const [session, client] of sessions) if (client === by) session.destroy();
    },
    close() {
      for (const session of sessions.keys()) session.destroy();
      return new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

const UNAUTHENTICATED = '16';
const GRPC = { ':status': 200, 'content-type': 'application/grpc' };

const tlsOf = ({ certificates }: Admitted) => ({ cert: SERVER.cert, key: SERVER.key, ca: [...certificates] });

function passOn(stream: ServerHttp2Stream, request: ReturnType<ReturnType<typeof connect>['request']>): void {
  let trailers: IncomingHttpHeaders = {};
  request.on('trailers', (sent) => (trailers = sent));
  request.on('response', (headers, flags) => {
    const isAll = (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0;
    if (stream.destroyed) return;
    stream.respond(headers, isAll ? { endStream: true } : { waitForTrailers: true });
    if (!isAll) request.pipe(stream);
  });
  stream.on('wantTrailers', () => stream.sendTrailers(trailers));
  stream.on('error', () => undefined);
  request.on('error', () => stream.destroy());
  // A poll that its client gave up must not take a task.
  stream.on('close', () => request.close(constants.NGHTTP2_CANCEL));
  stream.pipe(request);
}
