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
  /** Whether it was ended because the request was too old once the connection was ready. */
  wasTooLate(): boolean;
}

export interface Connections {
  /** For reads: connections are kept and used again. */
  readonly kept: HttpAgent;
  /**
   * For money POSTs: Node may reuse a socket that the server has just closed, and the ECONNRESET of a POST that never
   * arrived looks like one that was executed. A connection of its own also tells whether it was ever made.
   *
   * @param stillValid asked once it is ready, right before the first byte: false ends it, and nothing leaves
   */
  fresh(stillValid?: () => boolean): FreshConnection;
  close(): void;
}

/** `ca`: PEM certificates to trust in place of Node's own. */
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
      // First listener of all: Node writes what is queued in later listeners of the same event.
      socket.once(secure ? 'secureConnect' : 'connect', () => {
        tooLate = !stillValid();
        if (tooLate) socket.destroy();
        else ready = true;
      });
    } else {
      ready = true; // Nothing to observe, so nothing is proven.
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
