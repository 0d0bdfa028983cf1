import type { FastifyRequest } from 'fastify';
import { createKnownNetworks, type KnownNetworks } from '../http/known-networks.js';
import { createPlaces, whenOver } from '../http/places.js';
import { createRateLimit, networkOf, type RateLimit, UNPROVEN } from '../http/rate-limit.js';

/**
 * Limits how many events come at once, and how fast: by address and `Content-Length` before a body is read, while it is
 * received, and again before an unproven event is stored. Only what is proven and new is not counted in the end: a proven
 * event that is sent again and again could be anyone's copy.
 *
 * @param hasProof the URL or the network identifies its sender: then unknown clients of the same address take nothing
 * from it
 * @param flowId of a URL of one flow
 * @throws Refusal 429 if this address sends too much without proof or has too much open, in all or by this URL, or if
 * this URL has from unknown addresses, 503 if all together do
 */
export type Admission = (request: FastifyRequest, hasProof: boolean, flowId?: string) => Admitted;

/** An event that may come in. */
export interface Admitted {
  /** Its URL or its address identifies its sender. */
  readonly isKnown: boolean;
  /** So many bytes of its body came. @throws Refusal as `Admission` does */
  received(bytes: number): void;
  /**
   * It is proven.
   * @param byUrlOf the flow whose URL alone proves it, which does not make a client known: who reads it in the logs of a
   * proxy could fill the claims' disk, since proven events are never deleted
   * @returns gives back what it was charged: it was stored before, or is not stored
   * @throws Refusal 429 if more came by this URL than a flow has events
   */
  proven(bytes: number, byUrlOf?: string): () => void;
  /** It was proven, and stored for the first time. */
  provenAnew(): void;
  /**
   * Nothing proves it, or it is a forgery.
   * @throws Refusal 429 if this address, or all together, sent as many as are kept
   */
  unproven(bytes: number): void;
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

/** @param ofUnknown the rate of clients without a proof */
export function createAdmission(
  ofUnknown: RateLimit,
  monotonicMs: () => number,
  knownNetworks: KnownNetworks = createKnownNetworks(),
): Admission {
  const byUrl = createRateLimit(BY_URL.perSecond, monotonicMs, BY_URL.burstSeconds);
  const places = createPlaces(PLACES);

  return (request, hasProof, flowId) => {
    const network = networkOf(request.ip);
    const isKnownNetwork = knownNetworks.has(request.ip);
    const isKnown = hasProof || isKnownNetwork;
    // Unknown clients take nothing from those with a proof, also if these have the same address.
    const sort = hasProof ? 'events with proof' : 'events';
    const name = `${sort} ${network}`;
    // A known address is held back by no other one.
    const sharesOfUrl = isKnownNetwork
      ? { [`${flowId} ${network}`]: OF_URL }
      : { [`${flowId} ${network}`]: OF_URL_BY_UNKNOWN, [String(flowId)]: OF_URL };
    const giveBack = ofUnknown.take(name, unitsOf(Number(request.headers['content-length'] ?? Infinity)));
    const shares = { [name]: OF_ADDRESS, ...(flowId === undefined ? {} : sharesOfUrl) };
    const place = places.take(shares, { leavesRoom: !isKnown });
    whenOver(request, place.free);
    let came = 0;

    return {
      isKnown,
      received(bytes) {
        const more = unitsOf(came + bytes) - unitsOf(came);
        came += bytes;
        if (more > 0) place.grow(more);
      },
      proven(bytes, byUrlOf) {
        if (byUrlOf !== undefined) return byUrl.take(byUrlOf, unitsOf(bytes));
        knownNetworks.addProven(request.ip);
        return () => undefined;
      },
      provenAnew: () => giveBack(),
      unproven(bytes) {
        // Apart from what arrives: a proven event of the same address is still taken.
        ofUnknown.take(`unproven ${name}`, UNPROVEN * unitsOf(bytes));
        // Ten times as much as one address may send.
        ofUnknown.take(`unproven ${sort}`, unitsOf(bytes));
      },
    };
  };
}
