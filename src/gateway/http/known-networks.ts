import type { Logger } from 'pino';
import type { ProvenNetworks } from '../../store/proven-networks.js';
import { keepNewest, networkOf } from './rate-limit.js';
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
  /** The longest ago first; by each whether this gateway has stored it. */
  const known = new Map(remembered.toReversed().map((network) => [network, false]));
  const add = (network: string, isStored = known.get(network) ?? false) =>
    keepNewest(known, network, isStored, MOST_REMEMBERED);
  return {
    has: (address) => known.has(networkOf(address)),
    add: (address) => add(networkOf(address)),
    addProven(address) {
      const network = networkOf(address);
      const isStored = known.get(network) === true;
      add(network, true);
      if (isStored) return;
      store?.add(network).catch((error: unknown) => {
        add(network, false);
        logger?.warn({ error: errorForLog(error) }, 'the network of a proven event was not stored; with its next one');
      });
    },
  };
}
