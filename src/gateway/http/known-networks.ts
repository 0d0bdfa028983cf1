import type { Logger } from 'pino';
import type { ProvenNetworks } from '../../store/proven-networks.js';
import { networkOf } from './rate-limit.js';
import { errorForLog } from './refusal.js';

/**
 * Networks of known clients: they sent a token, or an event with proof. Unknown clients can have any number of networks, so
 * part of the room is reserved for these.
 */
export interface KnownNetworks {
  has(address: string): boolean;
  /** It sent a token: known as long as this gateway runs. */
  add(address: string): void;
  /** It sent an event with proof: known to every gateway that starts from now on. */
  addProven(address: string): void;
}

const MOST_REMEMBERED = 10_000;

/** With those that sent events with proof before this gateway started. */
export async function openKnownNetworks(store: ProvenNetworks, logger: Logger): Promise<KnownNetworks> {
  const remembered = await store.list().catch((error: unknown) => {
    logger.warn({ error: errorForLog(error) }, 'the networks of proven events could not be read: all are unknown');
    return [];
  });
  return createKnownNetworks(store, logger, remembered);
}

export function createKnownNetworks(
  store?: Pick<ProvenNetworks, 'add'>,
  logger?: Logger,
  remembered: readonly string[] = [],
): KnownNetworks {
  /** The longest ago first. */
  const known = new Set(remembered.toReversed());
  /** By this gateway. */
  const stored = new Set<string>();
  const remember = (set: Set<string>, network: string): void => {
    set.delete(network);
    set.add(network);
    const [oldest] = set;
    if (set.size > MOST_REMEMBERED && oldest !== undefined) set.delete(oldest);
  };
  return {
    has: (address) => known.has(networkOf(address)),
    add: (address) => remember(known, networkOf(address)),
    addProven(address) {
      const network = networkOf(address);
      remember(known, network);
      if (store === undefined || stored.has(network)) return;
      remember(stored, network);
      store.add(network).catch((error: unknown) => {
        stored.delete(network);
        logger?.warn({ error: errorForLog(error) }, 'the network of a proven event was not stored; with its next one');
      });
    },
  };
}
