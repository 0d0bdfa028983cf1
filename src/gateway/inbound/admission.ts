import type { FastifyRequest } from 'fastify';
import { createKnownNetworks, type KnownNetworks } from '../http/known-networks.js';
import { createPlaces, whenOver } from '../http/places.js';
import { createRateLimit, networkOf } from '../http/rate-limit.js';

/**
 * Who may send events, and how many: decided by the address and `Content-Length`, before a body is read, and again before
 * anything is stored that nothing proves. What is proven counts for nothing in the end.
 */
export interface Admission {
  /**
   * Before the body is read.
   * @param isKnown the URL or the network speaks for its sender: then strangers of the same address take nothing from it
   * @throws Refusal 429 where this address sends too much without proof or has too much open, 503 where all have
   */
  arrive(request: FastifyRequest, isKnown: boolean): void;
  /** The event is proven. */
  proven(request: FastifyRequest): void;
  /**
   * Nothing proves the event, or it is a forgery.
   * @throws Refusal 429 where this address, or all together, sent as many as are kept
   */
  unproven(request: FastifyRequest, bytes: number): void;
}

/** An event has one or two of them. */
const UNIT_BYTES = 4 * 1_024;
/** 64 KiB, and what says no length may have as much. */
const MOST_UNITS = 16;
const unitsOf = (bytes: number): number => Math.min(MOST_UNITS, Math.max(1, Math.ceil(bytes / UNIT_BYTES)));

/** How many may arrive for each that would be kept: most of a genuine sender's are proven a moment later. */
const ARRIVALS = 10;
/** How many addresses may send all that they may. */
const ADDRESSES = 10;
/** 32 MiB of bodies that are read, verified or stored; an eighth of it for one address. */
const PLACES = { what: 'events', most: 8_192, mostEach: 1_024 };

/** @param perSecond events without proof that are kept of one address; 0: no limit, but for what is open at one time */
export function createAdmission(
  perSecond: number,
  monotonicMs: () => number,
  knownNetworks: KnownNetworks = createKnownNetworks(),
): Admission {
  const arrivals = createRateLimit(perSecond * ARRIVALS, monotonicMs);
  const kept = createRateLimit(perSecond, monotonicMs);
  const keptOfAll = createRateLimit(perSecond * ADDRESSES, monotonicMs);
  const places = createPlaces(PLACES);
  const charges = new WeakMap<FastifyRequest, () => void>();

  return {
    arrive(request, isKnown) {
      const length = Number(request.headers['content-length'] ?? Infinity);
      const name = `${isKnown ? 'known' : 'any'} ${networkOf(request.ip)}`;
      const units = unitsOf(length);
      charges.set(request, arrivals.take(name, units));
      whenOver(request, places.take(name, { units, isStranger: !isKnown && !knownNetworks.has(request.ip) }));
    },
    proven(request) {
      knownNetworks.add(request.ip);
      charges.get(request)?.();
    },
    unproven(request, bytes) {
      kept.take(networkOf(request.ip), unitsOf(bytes));
      keptOfAll.take('all', unitsOf(bytes));
    },
  };
}
