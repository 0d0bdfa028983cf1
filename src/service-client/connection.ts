import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Duplex } from 'node:stream';
import { isIPv4 } from 'node:net';

/** The one connection of a money POST. */
interface FreshConnection {
  readonly agent: HttpAgent;
  /**
   * Whether a byte of the request may have left: TCP (over TLS: its handshake, with the certificate checked) was ready.
   */
  wasReady(): boolean;
  /** Ends the connection, even while it is being made: after this nothing can leave any more. */
  destroy(): void;
  /** Whether it was ended because the request was too old once the connection was ready. */
  wasTooLate(): boolean;
}

export interface Connections {
  /** For reads: connections are kept and reused. */
  readonly kept: HttpAgent;
  /**
   * For money POSTs: Node may reuse a socket that the server has just closed, and the ECONNRESET of a POST that never
   * arrived looks like one that was executed. A new connection also shows whether it was ever made.
   *
   * @param stillValid called once it is ready, right before the first byte: false ends it, and nothing leaves
   */
  fresh(stillValid?: () => boolean): FreshConnection;
  close(): void;
}

/** `ca`: PEM certificates to trust instead of Node's own. */
export function createConnections(secure: boolean, ca?: string): Connections {
  const make = (keepAlive: boolean) =>
    secure ? new HttpsAgent({ keepAlive, ...(ca === undefined ? {} : { ca }) }) : new HttpAgent({ keepAlive });
  const kept = make(true);
  return { kept, fresh: (stillValid) => observed(make(false), secure, stillValid), close: () => kept.destroy() };
}

function observed(agent: HttpAgent, secure: boolean, stillValid: () => boolean = () => true): FreshConnection {
  let ready = false;
  let tooLate = false;
  const sockets: Duplex[] = [];
  const connect = agent.createConnection.bind(agent);
  agent.createConnection = (options, callback) => {
    const socket = connect(options, callback);
    if (socket) {
      sockets.push(socket);
      // Registered before all other listeners: Node writes queued data in later listeners of the same event.
      socket.once(secure ? 'secureConnect' : 'connect', () => {
        tooLate = !stillValid();
        if (tooLate) socket.destroy();
        else ready = true;
      });
    } else {
      ready = true; // Nothing can be observed, so nothing is proven.
    }
    return socket;
  };
  return {
    agent,
    wasReady: () => ready,
    wasTooLate: () => tooLate,
    destroy: () => {
      for (const socket of sockets) socket.destroy();
      agent.destroy();
    },
  };
}

/** The service's base address cannot be used. Says why, without the address, which may contain credentials. */
export class BaseUrlError extends Error {
  override readonly name = 'BaseUrlError';
}

/**
 * Checks the service's base address once: http or https, no credentials, query or fragment; https unless the host is
 * loopback or `allowHttp` is set, since every request carries the token. A path before `/api/v3` is kept.
 */
export function checkBaseUrl(baseUrl: string, allowHttp: boolean): URL {
  if (!URL.canParse(baseUrl)) throw new BaseUrlError('The base address of the service is not a URL.');
  const url = new URL(baseUrl);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw new BaseUrlError('The base address of the service must begin with https://.');
  }
  if (url.username !== '' || url.password !== '') {
    throw new BaseUrlError('The base address of the service must not contain credentials.');
  }
  if (url.search !== '' || url.hash !== '') {
    throw new BaseUrlError('The base address of the service must not have a query or a fragment.');
  }
  if (url.protocol === 'http:' && !allowHttp && !isLoopback(url.hostname)) {
    throw new BaseUrlError('The base address of the service must begin with https://, except on loopback.');
  }
  return url;
}

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '[::1]' || (isIPv4(host) && host.startsWith('127.'));

/** The address without a slash at its end, ready for a path that begins with one. */
export const prefixOf = (base: URL): string => `${base.origin}${base.pathname.replace(/\/+$/, '')}`;
