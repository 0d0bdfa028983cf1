import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Duplex } from 'node:stream';

/** The one connection of a money POST. */
export interface FreshConnection {
  readonly agent: HttpAgent;
  /** Whether a byte of the request can have left: TCP (over TLS: its handshake, certificate checked) was ready. */
  wasReady(): boolean;
  /** Ends the connection, also one that is still being made: after this nothing can leave any more. */
  destroy(): void;
}

export interface Connections {
  /** For reads: connections are kept and used again. */
  readonly kept: HttpAgent;
  /**
   * For money POSTs: Node may reuse a socket that the server has just closed, and the ECONNRESET of a POST that never
   * arrived looks like one that was executed. A connection of its own also tells whether it was ever made.
   */
  fresh(): FreshConnection;
  close(): void;
}

/** `ca`: PEM certificates to trust in place of Node's own. */
export function createConnections(secure: boolean, ca?: string): Connections {
  const make = (keepAlive: boolean) =>
    secure ? new HttpsAgent({ keepAlive, ...(ca === undefined ? {} : { ca }) }) : new HttpAgent({ keepAlive });
  const kept = make(true);
  return { kept, fresh: () => observed(make(false), secure), close: () => kept.destroy() };
}

function observed(agent: HttpAgent, secure: boolean): FreshConnection {
  let ready = false;
  const sockets: Duplex[] = [];
  const connect = agent.createConnection.bind(agent);
  agent.createConnection = (options, callback) => {
    const socket = connect(options, callback);
    if (socket) {
      sockets.push(socket);
      // First listener of all: Node writes what is queued in later listeners of the same event.
      socket.once(secure ? 'secureConnect' : 'connect', () => {
        ready = true;
      });
    } else {
      ready = true; // Nothing to observe, so nothing is proven.
    }
    return socket;
  };
  return {
    agent,
    wasReady: () => ready,
    destroy: () => {
      for (const socket of sockets) socket.destroy();
      agent.destroy();
    },
  };
}
