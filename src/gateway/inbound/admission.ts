import type { FastifyRequest } from 'fastify';
import { createKnownNetworks, type KnownNetworks } from '../http/known-networks.js';
import { createPlaces, whenOver } from '../http/places.js';
import { createRateLimit, networkOf, type RateLimit, UNPROVEN } from '../http/rate-limit.js';
import type { InboxSource, Proof } from '../../protocol/events.js';

/**
 * Limits how many events come at once, and how fast: by address and `Content-Length` before a body is read, while it is
 * received, and again before an unproven event is stored. Only what is proven and new is not counted in the end: a proven
 * event that is sent again and again could be anyone's copy.
 *
 * @throws Refusal 429 if this address sends too much without proof or has too much open, in all or by this URL, or if
 * this URL has from unknown addresses, 503 if all together do
 */
export type Admission = (request: FastifyRequest, sender?: Sender) => Admitted;

/** What is known of the sender of an event before its body is read. */
export interface Sender {
  readonly source: InboxSource;
  /** The strongest first. */
  readonly acceptedProofs: readonly Proof[];
  /** What proves it besides a signature: what its URL has, or where it comes from. Not each of them is accepted. */
  readonly proofs: readonly ('capability' | 'network')[];
  /** The flow that its URL names. */
  readonly flowId?: string;
}

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
/** For a URL with a capability, of one flow or of all: for each known address, and for all others together. */
const OF_URL = { ofOneFlow: 512, ofAll: 2_048 };
/** Of those, for each other address: one that has read the URL somewhere leaves room for the service. */
const BY_ONE_UNKNOWN = 1 / 4;

/** @param ofUnknown the rate of clients without a proof */
export function createAdmission(
  ofUnknown: RateLimit,
  monotonicMs: () => number,
  knownNetworks: KnownNetworks = createKnownNetworks(),
): Admission {
  const byUrl = createRateLimit(BY_URL.perSecond, monotonicMs, BY_URL.burstSeconds);
  const places = createPlaces(PLACES);

  return (request, sender) => {
    const { flowId, source, proofs = [], acceptedProofs = [] } = sender ?? {};
    const network = networkOf(request.ip);
    const isKnownNetwork = knownNetworks.has(request.ip);
    const isIdentified = proofs.length > 0;
    // Where the service signs, its URLs prove nothing: who has read one is an unknown client.
    const hasProof = proofs.some((proof) => acceptedProofs.includes(proof));
    // Unknown clients take nothing from those who have a URL, also if these have the same address.
    const sort = isIdentified ? 'events of a URL' : 'events';
    const name = `${sort} ${network}`;
    const giveBack = ofUnknown.take(name, unitsOf(Number(request.headers['content-length'] ?? Infinity)));
    const url = proofs.includes('capability') ? (flowId ?? source) : undefined;
    const mostOfUrl = flowId === undefined ? OF_URL.ofAll : OF_URL.ofOneFlow;
    // A known address is held back by no other one.
    const sharesOfUrl = isKnownNetwork
      ? { [`${url} ${network}`]: mostOfUrl }
      : { [`${url} ${network}`]: mostOfUrl * BY_ONE_UNKNOWN, [String(url)]: mostOfUrl };
    const shares = { [name]: OF_ADDRESS, ...(url === undefined ? {} : sharesOfUrl) };
    const place = places.take(shares, { leavesRoom: !hasProof && !isKnownNetwork });
    whenOver(request, place.free);
    let came = 0;

    return {
      isKnown: isIdentified || isKnownNetwork,
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
