import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Refusal } from './refusal.js';

/** Limits how many are open at once: in all, and for each name, so that one cannot take everything. */
export interface Places {
  /**
   * @param shares names that it counts for, and how much each may have open
   * @param order.units what it counts for; it is admitted whole if there is any room left. @default 1
   * @param order.leavesRoom with all others of which that is true it gets three quarters of the room: unknown clients,
   * who can have any number of names, leave a quarter to known ones, and readers to orders. @default false
   * @throws Refusal 429 if a name has used up its share, 503 if everything is taken
   */
  take(
    shares: Readonly<Record<string, number>>,
    order?: { readonly units?: number; readonly leavesRoom?: boolean },
  ): Place;
}

export interface Place {
  /** It counts for so many units more. @throws Refusal as `take` does */
  readonly grow: (units: number) => void;
  /** Calling it twice does nothing. */
  readonly free: () => void;
}

/** Of the room: the rest is for known clients, and for orders. */
export const LEAVING_ROOM = 3 / 4;

/** For `Retry-After`: a place is held for one request, which is short. */
const PLACE_FREE_AFTER_SECONDS = 1;

/** @param options.what plural noun for what is counted */
export function createPlaces({ what, most }: { readonly what: string; readonly most: number }): Places {
  const taken = new Map<string, number>();
  let all = 0;
  let leavingRoom = 0;

  return {
    take(shares, { units = 1, leavesRoom = false } = {}) {
      let held = 0;
      let isFree = false;
      const add = (more: number): void => {
        held += more;
        all += more;
        if (leavesRoom) leavingRoom += more;
        for (const name of Object.keys(shares)) {
          const now = (taken.get(name) ?? 0) + more;
          if (now > 0) taken.set(name, now);
          else taken.delete(name);
        }
      };
      const grow = (more: number): void => {
        if (isFree) return;
        const refuse = (status: number, why: string) => new Refusal(status, why, {}, PLACE_FREE_AFTER_SECONDS);
        const isOver = Object.entries(shares).some(([name, share]) => (taken.get(name) ?? 0) >= share);
        if (isOver) throw refuse(429, `Too many open ${what}. Try again later.`);
        const isFull = all >= most || (leavesRoom && leavingRoom >= most * LEAVING_ROOM);
        if (isFull) throw refuse(503, `The gateway has too many open ${what}. Try again later.`);
        add(more);
      };
      grow(units);
      const free = (): void => {
        isFree = true;
        add(-held);
      };
      return { grow, free };
    },
  };
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Requests whose handler has begun and not ended. */
    handling: ReadonlySet<FastifyRequest>;
  }
  interface FastifyRequest {
    /** Resolves when the answer is sent, or its caller has gone. */
    answered: Promise<void>;
    /** Resolves when the handler has ended. Absent: it has not begun. */
    handled?: Promise<void>;
  }
}

/** Requests that one connection may have open: clients that pipeline send a few. */
const MOST_PIPELINED = 8;

/** The requests of a connection that are not answered, each with what ends its wait. */
const unanswered = new WeakMap<Socket, Set<() => void>>();

/**
 * Before every hook and every route that uses `whenAnswered` or `whenOver`. Cuts connections with too many requests at a
 * time.
 */
export function followRequests(server: FastifyInstance): void {
  const handling = new Set<FastifyRequest>();
  server.decorate('handling', handling);
  server.decorateRequest('answered');
  server.decorateRequest('handled');
  server.addHook('onRequest', (request, reply, next) => {
    const { socket } = request.raw;
    const others = unansweredOn(socket);
    if (others.size >= MOST_PIPELINED) {
      // An answer would only be queued behind the others.
      reply.hijack();
      socket.destroy();
      return;
    }
    request.answered = new Promise((resolve) => {
      others.add(resolve);
      reply.raw.once('close', () => {
        resolve();
        // Not before the others that came with it have begun: refused ones are answered at once, and a hundred of them in
        // one turn of the event loop would delay everybody.
        setImmediate(() => others.delete(resolve));
      });
      if (socket.closed) resolve();
    });
    next();
  });
  server.addHook('onRoute', (route) => {
    const { handler } = route;
    route.handler = function handleFollowed(request, reply) {
      const work = (async () => handler.call(this, request, reply))();
      handling.add(request);
      const end = () => void handling.delete(request);
      request.handled = work.then(end, end);
      return work;
    };
  });
}

/**
 * When a connection is cut, Node closes only the answer that is being sent: those that are queued behind it, of pipelined
 * requests, would stay open for ever.
 */
function unansweredOn(socket: Socket): Set<() => void> {
  const known = unanswered.get(socket);
  if (known !== undefined) return known;
  const ofSocket = new Set<() => void>();
  unanswered.set(socket, ofSocket);
  socket.once('close', () => ofSocket.forEach((end) => end()));
  return ofSocket;
}

/** No request came on it that is not answered. */
export const isUnused = (socket: Socket): boolean => (unanswered.get(socket)?.size ?? 0) === 0;

/** Runs once, when the answer is sent or its caller has gone; at once if that has happened. */
export function whenAnswered(request: FastifyRequest, work: () => void): void {
  void request.answered.then(work);
}

/**
 * Runs once, when the answer is sent or its caller has gone, and its handler has ended as well: work that was begun
 * continues after the caller hangs up.
 */
export function whenOver(request: FastifyRequest, work: () => void): void {
  void request.answered.then(() => request.handled).then(work);
}
