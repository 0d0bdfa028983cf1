/** A part of the system that serves `places` requests at a time; each takes `serviceMs` on average. */
export interface Station {
  readonly name: string;
  readonly places: number;
  readonly serviceMs: number;
  /** Requests of one flow. */
  readonly perFlow: number;
}

export interface Waits {
  /** Milliseconds until a request is begun, on average. */
  readonly meanMs: number;
  readonly p99Ms: number;
}

/** The share of its places that a station has busy; 1 and more: it falls behind. */
export const loadOf = ({ places, serviceMs, perFlow }: Station, flowsPerSecond: number): number =>
  (flowsPerSecond * perFlow * serviceMs) / 1_000 / places;

/** The most flows per second of a station. */
export const capacityOf = (station: Station): number => 1 / loadOf(station, 1);

const WARM_UP_SHARE = 0.1;

/**
 * Requests that come at random (Poisson) and take a random time (exponential), first come, first served. The same seed
 * gives the same waits. Its test compares it with the formula for M/M/c.
 */
export function simulateWaits(
  station: Station,
  flowsPerSecond: number,
  { requests, seed }: { readonly requests: number; readonly seed: number },
): Waits {
  const random = randomFrom(seed);
  const exponential = (mean: number) => -Math.log(1 - random()) * mean;
  const betweenMs = 1_000 / (flowsPerSecond * station.perFlow);
  /** When each place is free again. */
  const freeAt = new Float64Array(station.places);
  const waits: number[] = [];
  let nowMs = 0;
  for (let count = 0; count < requests; count += 1) {
    nowMs += exponential(betweenMs);
    const place = earliest(freeAt);
    const beginsMs = Math.max(nowMs, freeAt[place] ?? 0);
    freeAt[place] = beginsMs + exponential(station.serviceMs);
    if (count >= requests * WARM_UP_SHARE) waits.push(beginsMs - nowMs);
  }
  const sorted = waits.toSorted((a, b) => a - b);
  return {
    meanMs: waits.reduce((sum, wait) => sum + wait, 0) / waits.length,
    p99Ms: sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN,
  };
}

function earliest(freeAt: Float64Array): number {
  let found = 0;
  for (let place = 1; place < freeAt.length; place += 1) {
    if ((freeAt[place] ?? 0) < (freeAt[found] ?? 0)) found = place;
  }
  return found;
}

/** Mulberry32: small, and good enough for queues. */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
