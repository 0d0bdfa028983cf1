import type { Server, Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { NetworkList } from '../../config/networks.js';
import type { KnownNetworks } from './known-networks.js';
import { createPlaces, isUnused, whenAnswered } from './places.js';
import { networkOf } from './rate-limit.js';
import { Refusal } from './refusal.js';

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
/**
 * Cuts connections beyond the limits, before anything is read from them. One that is not used has no right to its place: if
 * those of unknown clients are all taken, the one that is unused for the longest is closed for a newcomer.
 */
export function limitSockets(
  listener: Server,
  { maxConnections, shareOfAnAddress = 4, trustedProxies, knownNetworks }: ConnectionLimits,
): void {
  const mostEach = Math.ceil(maxConnections / shareOfAnAddress);
  const places = createPlaces({ what: 'connections', most: maxConnections });
  listener.maxConnections = maxConnections;
  /** Of unknown clients, what frees the place of each: those first that were used longest ago. */
  const ofUnknown = new Map<Socket, () => void>();
  const closeUnused = (): boolean => {
    for (const [socket, free] of ofUnknown) {
      if (!isUnused(socket)) continue;
      free();
      socket.destroy();
      return true;
    }
    return false;
  };
  listener.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? '';
    if (trustedProxies?.includes(address)) return;
    const leavesRoom = knownNetworks?.has(address) === false;
    const take = () => places.take({ [networkOf(address)]: mostEach }, { leavesRoom }).free;
    try {
      const free = takeOr(take, closeUnused);
      socket.once('close', () => {
        ofUnknown.delete(socket);
        free();
      });
      if (leavesRoom) ofUnknown.set(socket, free);
    } catch {
      socket.destroy();
    }
  });
  listener.on('request', ({ socket }: { readonly socket: Socket }) => {
    const free = ofUnknown.get(socket);
    // It is the last one now.
    if (free !== undefined && ofUnknown.delete(socket)) ofUnknown.set(socket, free);
  });
}

/** Once more, if all of the room was taken and some was made. */
function takeOr(take: () => () => void, makeRoom: () => boolean): () => void {
  try {
    return take();
  } catch (error) {
    if (!(error instanceof Refusal) || error.status !== 503 || !makeRoom()) throw error;
    return take();
  }
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
