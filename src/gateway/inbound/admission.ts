import type { FastifyRequest } from 'fastify';
import { createKnownNetworks, type KnownNetworks } from '../http/known-networks.js';
import { createPlaces, type Place, whenOver } from '../http/places.js';
import { createRateLimit, networkOf, type RateLimit, UNPROVEN } from '../http/rate-limit.js';

/**
 * Limits how many events come at once, and how fast: checked by address and `Content-Length` before a body is read, while
 * it is received, and again before an unproven event is stored. Only what is proven and new is not counted in the end: a
 * proven event that is sent again and again could be anyone's copy.
 */
export interface Admission {
  /**
   * Before the body is read.
   * @param hasProof the URL or the network identifies its sender: then unknown clients of the same address take nothing
   * from it
   * @param flowId of a URL of one flow
   * @throws Refusal 429 if this address sends too much without proof or has too much open, in all or by this URL, or if
   * this URL has from unknown addresses, 503 if all together do
   */
  arrive(request: FastifyRequest, hasProof: boolean, flowId?: string): void;
  /** So many bytes of its body came. @throws Refusal as `arrive` does */
  received(request: FastifyRequest, bytes: number): void;
  /**
   * The event is proven.
   * @param byUrlAlone by the URL of its flow, which does not make a client known: it may be in the logs of proxies
   */
  proven(request: FastifyRequest, byUrlAlone?: boolean): void;
  /** The event is proven, and was stored for the first time. */
  provenAnew(request: FastifyRequest): void;
  /**
   * Nothing proves the event, or it is a forgery.
   * @throws Refusal 429 if this address, or all together, sent as many as are kept
   */
  unproven(request: FastifyRequest, hasProof: boolean, bytes: number): void;
  /** Its URL or its address identifies its sender. */
  isKnown(request: FastifyRequest, hasProof: boolean): boolean;
  /**
   * Only the URL of its flow proves the event. Who reads it in the logs of a proxy could fill the claims' disk, since
   * proven events are never deleted.
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

/** 1 MiB at once, then six events a minute: the service reports a few dozen events of a flow. */
const BY_URL = { perSecond: 0.1, burstSeconds: 2_560 };
/** 32 MiB of bodies that are received, verified or stored. */
const PLACES = { what: 'events', most: 8_192 };
/** Of them, for one address. */
const OF_ADDRESS = 1_024;
/** For the URL of one flow: for each known address, and for all others together. */
const OF_URL = 512;
/** Of those, for each other address: one that has read the URL somewhere leaves room for the service. */
const OF_URL_BY_UNKNOWN = 128;

/** @param ofUnknown the rate of clients without a proof; 0: no limit, except on what is open at one time */
export function createAdmission(
  ofUnknown: RateLimit,
  monotonicMs: () => number,
  knownNetworks: KnownNetworks = createKnownNetworks(),
): Admission {
  const byUrl = createRateLimit(ofUnknown.isNone ? 0 : BY_URL.perSecond, monotonicMs, BY_URL.burstSeconds);
  const places = createPlaces(PLACES);
  const open = new WeakMap<FastifyRequest, { readonly place: Place; bytes: number; readonly giveBack: () => void }>();
  // Unknown clients take nothing from those with a proof, also if these have the same address.
  const sort = (hasProof: boolean): string => (hasProof ? 'events with proof' : 'events');
  const nameOf = (request: FastifyRequest, hasProof: boolean) => `${sort(hasProof)} ${networkOf(request.ip)}`;
  const isKnown = (request: FastifyRequest, hasProof: boolean) => hasProof || knownNetworks.has(request.ip);
  /** A known address is held back by no other one. */
  const sharesOfUrl = (request: FastifyRequest, flowId: string | undefined): Record<string, number> => {
    if (flowId === undefined) return {};
    const ofAddress = `${flowId} ${networkOf(request.ip)}`;
    if (knownNetworks.has(request.ip)) return { [ofAddress]: OF_URL };
    return { [ofAddress]: OF_URL_BY_UNKNOWN, [flowId]: OF_URL };
  };

  return {
    arrive(request, hasProof, flowId) {
      const length = Number(request.headers['content-length'] ?? Infinity);
      const name = nameOf(request, hasProof);
      const giveBack = ofUnknown.take(name, unitsOf(length));
      const shares = { [name]: OF_ADDRESS, ...sharesOfUrl(request, flowId) };
      const place = places.take(shares, { leavesRoom: !isKnown(request, hasProof) });
      open.set(request, { place, bytes: 0, giveBack });
      whenOver(request, () => place.free());
    },
    received(request, bytes) {
      const found = open.get(request);
      if (found === undefined) return;
      const more = unitsOf(found.bytes + bytes) - unitsOf(found.bytes);
      found.bytes += bytes;
      if (more > 0) found.place.grow(more);
    },
    isKnown,
    proven(request, byUrlAlone = false) {
      if (!byUrlAlone) knownNetworks.addProven(request.ip);
    },
    provenAnew: (request) => open.get(request)?.giveBack(),
    unproven(request, hasProof, bytes) {
      // Apart from what arrives: a proven event of the same address is still taken.
      ofUnknown.take(`unproven ${nameOf(request, hasProof)}`, UNPROVEN * unitsOf(bytes));
      // Ten times as much as one address may send.
      ofUnknown.take(`unproven ${sort(hasProof)}`, unitsOf(bytes));
    },
    byUrlAlone: (flowId, bytes) => byUrl.take(flowId, unitsOf(bytes)),
  };
}
