import type { FastifyRequest } from 'fastify';
import { createKnownNetworks, type KnownNetworks } from '../http/known-networks.js';
import { createPlaces, whenOver } from '../http/places.js';
import { createRateLimit, networkOf } from '../http/rate-limit.js';

/**
 * Limits who may send events, and how many: checked by address and `Content-Length` before a body is read, and again
 * before an unproven event is stored. Only what is proven and new is not counted in the end: a proven event that is sent
 * again and again could be anyone's copy.
 */
export interface Admission {
  /**
   * Before the body is read.
   * @param isKnown the URL or the network identifies its sender: then strangers of the same address take nothing from
   * it
   * @param flowId of a URL of one flow
   * @throws Refusal 429 if this address sends too much without proof or has too much open, in all or by this URL, or if
   * this URL has from unfamiliar addresses, 503 if all together do
   */
  arrive(request: FastifyRequest, isKnown: boolean, flowId?: string): void;
  /**
   * The event is proven.
   * @param byUrlAlone by the URL of its flow, which does not make an address familiar
   */
  proven(request: FastifyRequest, byUrlAlone?: boolean): void;
  /** The event is proven, and was stored for the first time. */
  provenAnew(request: FastifyRequest): void;
  /**
   * Nothing proves the event, or it is a forgery.
   * @throws Refusal 429 if this address, or all together, sent as many as are kept
   */
  unproven(request: FastifyRequest, isKnown: boolean, bytes: number): void;
  /** Neither its URL nor its address identifies its sender. */
  isStranger(request: FastifyRequest, isKnown: boolean): boolean;
  /**
   * Only the URL of its flow proves the event. That URL may be in the logs of proxies: who reads it there could fill the
   * claims' disk, since proven events are never deleted.
   *
   * @returns gives it back: it was stored before
   * @throws Refusal 429 if more came by this URL than a flow has events
   */
  byUrlAlone(flowId: string, bytes: number): () => void;
}

/** An event has one or two of them. */
const UNIT_BYTES = 4 * 1_024;
/** 64 KiB; a request without a length counts as this much. */
const MOST_UNITS = 16;
const unitsOf = (bytes: number): number => Math.min(MOST_UNITS, Math.max(1, Math.ceil(bytes / UNIT_BYTES)));

/** Arrivals per event that would be kept: most events of a genuine sender are proven a moment later. */
const ARRIVALS = 10;
/** How many addresses may send all that they may. */
const ADDRESSES = 10;
/** 1 MiB at once, then six events a minute: the service reports a few dozen events of a flow. */
const BY_URL = { perSecond: 0.1, burstSeconds: 2_560 };
/** 32 MiB of bodies that are read, verified or stored; an eighth of it for one address. */
const PLACES = { what: 'events', most: 8_192, mostEach: 1_024 };
/**
 * Of them, for one flow's URL, which may be in the logs of proxies: for each familiar address, and for all others
 * together.
 */
const PLACES_OF_URL = { what: 'events of this flow', most: PLACES.most, mostEach: 512 };
/** Of those, for one address that is not familiar: one that knows the URL leaves room for the service. */
const PLACES_OF_STRANGER = { ...PLACES_OF_URL, mostEach: PLACES_OF_URL.mostEach / 4 };

/** @param perSecond events without proof that are kept per address; 0: no limit, except on what is open at one time */
export function createAdmission(
  perSecond: number,
  monotonicMs: () => number,
  knownNetworks: KnownNetworks = createKnownNetworks(),
): Admission {
  const arrivals = createRateLimit(perSecond * ARRIVALS, monotonicMs);
  const kept = createRateLimit(perSecond, monotonicMs);
  const keptOfAll = createRateLimit(perSecond * ADDRESSES, monotonicMs);
  const byUrl = createRateLimit(perSecond === 0 ? 0 : BY_URL.perSecond, monotonicMs, BY_URL.burstSeconds);
  const places = createPlaces(PLACES);
  const ofUrl = createPlaces(PLACES_OF_URL);
  const ofUrlEach = createPlaces(PLACES_OF_STRANGER);
  /** Networks that sent an event that more than the URL of its flow proves: the service's. */
  const familiar = createKnownNetworks();
  const charges = new WeakMap<FastifyRequest, () => void>();
  // Strangers take nothing from those who are known, also if these have the same address.
  const sort = (isKnown: boolean): string => (isKnown ? 'known' : 'any');
  const nameOf = (request: FastifyRequest, isKnown: boolean) => `${sort(isKnown)} ${networkOf(request.ip)}`;
  const isStranger = (request: FastifyRequest, isKnown: boolean) => !isKnown && !knownNetworks.has(request.ip);
  /** A familiar address is held back by no other one. */
  const takeOfUrl = (request: FastifyRequest, flowId: string, units: number): void => {
    const ofAddress = `${flowId} ${networkOf(request.ip)}`;
    if (familiar.has(request.ip)) return whenOver(request, ofUrl.take(ofAddress, { units }));
    whenOver(request, ofUrlEach.take(ofAddress, { units }));
    whenOver(request, ofUrl.take(flowId, { units }));
  };

  return {
    arrive(request, isKnown, flowId) {
      const length = Number(request.headers['content-length'] ?? Infinity);
      const name = nameOf(request, isKnown);
      const units = unitsOf(length);
      charges.set(request, arrivals.take(name, units));
      if (flowId !== undefined) takeOfUrl(request, flowId, units);
      whenOver(request, places.take(name, { units, isStranger: isStranger(request, isKnown) }));
    },
    isStranger,
    proven(request, byUrlAlone = false) {
      knownNetworks.add(request.ip);
      if (!byUrlAlone) familiar.add(request.ip);
    },
    provenAnew: (request) => charges.get(request)?.(),
    unproven(request, isKnown, bytes) {
      kept.take(nameOf(request, isKnown), unitsOf(bytes));
      keptOfAll.take(sort(isKnown), unitsOf(bytes));
    },
    byUrlAlone: (flowId, bytes) => byUrl.take(flowId, unitsOf(bytes)),
  };
}
