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

interface Open {
  /** Sent, or its caller has gone. */
  isAnswered: boolean;
  /** Its handler has begun, and has not ended. */
  isHandled: boolean;
  /** Work that waits for the answer. */
  readonly whenAnswered: (() => void)[];
  /** Work that waits for the end of both. */
  readonly whenOver: (() => void)[];
}

const open = new WeakMap<FastifyRequest, Open>();
const onSockets = new WeakMap<Socket, Set<Open>>();
const handling = new WeakMap<FastifyInstance, Set<Open>>();

/** Whether any handler of the server has begun and not ended. */
export const isHandling = (server: FastifyInstance): boolean => (handling.get(server)?.size ?? 0) > 0;

/** Before every hook and every route that uses `whenAnswered` or `whenOver`. */
export function followRequests(server: FastifyInstance): void {
  const handled = new Set<Open>();
  handling.set(server, handled);
  server.addHook('onRequest', (request, reply, next) => {
    const { socket } = request.raw;
    const followed: Open = { isAnswered: socket.closed, isHandled: false, whenAnswered: [], whenOver: [] };
    open.set(request, followed);
    const ofSocket = followedOn(socket);
    ofSocket.add(followed);
    reply.raw.once('close', () => {
      ofSocket.delete(followed);
      endAnswer(followed);
    });
    next();
  });
  server.addHook('onRoute', (route) => {
    const { handler } = route;
    route.handler = async function handleFollowed(request, reply) {
      const followed = open.get(request);
      if (followed !== undefined) {
        followed.isHandled = true;
        handled.add(followed);
      }
      try {
        return await handler.call(this, request, reply);
      } finally {
        if (followed !== undefined) {
          followed.isHandled = false;
          handled.delete(followed);
          endIfOver(followed);
        }
      }
    };
  });
}

/**
 * The requests of a connection that are not answered. When it is cut, Node closes only the answer that is being sent: those
 * that are queued behind it, of pipelined requests, would stay open for ever.
 */
function followedOn(socket: Socket): Set<Open> {
  const known = onSockets.get(socket);
  if (known !== undefined) return known;
  const followed = new Set<Open>();
  onSockets.set(socket, followed);
  socket.once('close', () => followed.forEach(endAnswer));
  return followed;
}

function endAnswer(followed: Open): void {
  followed.isAnswered = true;
  for (const work of followed.whenAnswered.splice(0)) work();
  endIfOver(followed);
}

function endIfOver({ isHandled, isAnswered, whenOver: works }: Open): void {
  if (isHandled || !isAnswered) return;
  for (const work of works.splice(0)) work();
}

/** Runs once, when the answer is sent or its caller has gone; at once if that has happened. */
export function whenAnswered(request: FastifyRequest, work: () => void): void {
  const followed = open.get(request);
  if (followed === undefined || followed.isAnswered) return work();
  followed.whenAnswered.push(work);
}

/**
 * Runs once, when the answer is sent or its caller has gone, and its handler has ended as well: work that was begun
 * continues after the caller hangs up.
 */
export function whenOver(request: FastifyRequest, work: () => void): void {
  const followed = open.get(request);
  if (followed === undefined) return work();
  followed.whenOver.push(work);
  endIfOver(followed);
}
