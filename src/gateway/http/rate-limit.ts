import { isIPv4 } from 'node:net';
import ipaddr from 'ipaddr.js';
import { withoutPort } from '../../config/networks.js';
import { Refusal } from './refusal.js';

export interface RateLimit {
  /**
   * @param units what it counts for; if less is left, the rest is taken from the future. @default 1
   * @returns gives it back, or so many units of it
   * @throws Refusal 429 with `Retry-After` if this name has used up its share
   */
  take(name: string, units?: number): (unused?: number) => void;
}

const BURST_SECONDS = 10;

/** For the rate of unknown clients: what proves nothing, such as a forgery or a wrong token, counts for ten arrivals. */
export const UNPROVEN = 10;
/** An attacker may have many addresses: beyond this the least recently used starts again. */
const MOST_NAMES = 10_000;

interface Bucket {
  left: number;
  atMs: number;
}

/**
 * A bucket for each name, in the memory of this gateway: several gateways allow several times as much.
 * @param perSecond 0: no limit
 * @param burstSeconds as much as this many seconds allow may come at once
 * @param what plural noun for what is counted
 */
export function createRateLimit(
  perSecond: number,
  nowMs: () => number = () => performance.now(),
  burstSeconds: number = BURST_SECONDS,
  what = 'requests',
): RateLimit {
  const buckets = new Map<string, Bucket>();
  const most = perSecond * burstSeconds;

  return {
    take(name, units = 1) {
      if (perSecond === 0) return () => undefined;
      const now = nowMs();
      const bucket = buckets.get(name) ?? { left: most, atMs: now };
      bucket.left = Math.min(most, bucket.left + ((now - bucket.atMs) / 1_000) * perSecond);
      bucket.atMs = now;
      const lacking = 1 - bucket.left;
      if (lacking <= 0) bucket.left -= units;
      keepNewest(buckets, name, bucket, MOST_NAMES);
      if (lacking > 0) {
        const seconds = Math.ceil(lacking / perSecond);
        const most = perSecond < 1 ? `${perSecond * 60} a minute` : `${perSecond} a second`;
        throw new Refusal(429, `Too many ${what}: at most ${most}. Try again later.`, {}, seconds);
      }
      // Filled up to `most` at the next call.
      return (unused = units) => void (bucket.left += unused);
    },
  };
}

/** Sets a member of a map of so many members at most, as the most recently used: the longest unused one goes. */
export function keepNewest<Name, Value>(map: Map<Name, Value>, name: Name, value: Value, most: number): void {
  // A map keeps the position of the first insertion.
  map.delete(name);
  map.set(name, value);
  const [oldest] = map.keys();
  if (map.size > most && oldest !== undefined) map.delete(oldest);
}

/** The name of an address for a limit: of IPv6 its /64, which is one subscriber's, of IPv4 all of it. */
export function networkOf(address: string): string {
  const bare = withoutPort(address);
  if (isIPv4(bare) || !ipaddr.isValid(bare)) return bare;
  // The IPv4 address of a socket that listens on IPv6, too, is that.
  const read = ipaddr.process(bare);
  if (read instanceof ipaddr.IPv4) return read.toString();
  const groups = read.parts.slice(0, 4).map((part) => part.toString(16));
  return `${groups.join(':')}::/64`;
}
