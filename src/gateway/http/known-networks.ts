import { networkOf } from './rate-limit.js';

/**
 * Networks that sent something proven: a token, or an event with proof. Strangers can have any number of networks, so
 * part of the shared room is reserved for these.
 */
export interface KnownNetworks {
  has(address: string): boolean;
  add(address: string): void;
}

const MOST_REMEMBERED = 10_000;

/** In the memory of this gateway. */
export function createKnownNetworks(): KnownNetworks {
  /** The longest ago first. */
  const known = new Set<string>();
  return {
    has: (address) => known.has(networkOf(address)),
    add(address) {
      const network = networkOf(address);
      known.delete(network);
      known.add(network);
      const [oldest] = known;
      if (known.size > MOST_REMEMBERED && oldest !== undefined) known.delete(oldest);
    },
  };
}
