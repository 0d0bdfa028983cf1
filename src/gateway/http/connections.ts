import type { Server, Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { NetworkList } from '../../config/networks.js';
import type { KnownNetworks } from './known-networks.js';
import { createPlaces, whenAnswered } from './places.js';
import { networkOf } from './rate-limit.js';

export interface ConnectionLimits {
  /** In all. Unknown clients together may have three quarters of them. */
  readonly maxConnections: number;
  /** An address may have this fraction of them, unless it is a trusted proxy. @default 4 */
  readonly shareOfAnAddress?: number;
  readonly trustedProxies?: NetworkList | undefined;
  /** @default each address counts as known */
  readonly knownNetworks?: Pick<KnownNetworks, 'has'>;
}

/** An open connection costs its sender nothing, so an unused one is closed. Longer than most clients keep theirs. */
export const KEEP_ALIVE_MS = 20_000;
/** Cuts connections beyond the limits, before anything is read from them. */
export function limitSockets(
  listener: Server,
  { maxConnections, shareOfAnAddress = 4, trustedProxies, knownNetworks }: ConnectionLimits,
): void {
  const mostEach = Math.ceil(maxConnections / shareOfAnAddress);
  const places = createPlaces({ what: 'connections', most: maxConnections });
  listener.maxConnections = maxConnections;
  listener.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? '';
    if (trustedProxies?.includes(address)) return;
    const leavesRoom = knownNetworks?.has(address) === false;
    try {
      socket.once('close', places.take({ [networkOf(address)]: mostEach }, { leavesRoom }).free);
    } catch {
      socket.destroy();
    }
  });
}

/** A caller that does not read would make us keep the answers, and the connection, for as long as it likes. */
export function cutUnreadAnswers(server: FastifyInstance, withinMs: number): void {
  server.addHook('onSend', (request, _reply, _payload, next) => {
    const { socket } = request.raw;
    const cut = setInterval(() => {
      // Nothing waits in the socket: an answer to an earlier request is still to come, such as that of a long poll.
      if (socket.writableLength > 0) socket.destroy();
    }, withinMs).unref();
    whenAnswered(request, () => clearInterval(cut));
    next();
  });
}
