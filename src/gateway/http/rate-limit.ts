import { Refusal } from './refusal.js';

export interface RateLimit {
  /**
   * @param units what it counts for; more than there is left is taken from what comes. @default 1
   * @throws Refusal 429 with `Retry-After` where this name has used up what it has
   */
  take(name: string, units?: number): void;
}

/** What may come at once: as much as so many seconds allow. */
const BURST_SECONDS = 10;
/** Names beyond this are tidied up: an attacker may have many addresses. */
const MOST_NAMES = 10_000;

interface Bucket {
  left: number;
  atMs: number;
}

/**
 * A bucket for each name, in the memory of this gateway: several gateways allow several times as much.
 * @param perSecond 0: no limit
 */
export function createRateLimit(perSecond: number, nowMs: () => number = () => performance.now()): RateLimit {
  const buckets = new Map<string, Bucket>();
  const most = perSecond * BURST_SECONDS;

  const filled = ({ left, atMs }: Bucket, now: number) => Math.min(most, left + ((now - atMs) / 1_000) * perSecond);
  const tidy = (now: number): void => {
    for (const [name, bucket] of buckets) if (filled(bucket, now) >= most) buckets.delete(name);
    // Still too many: all of them busy. Whoever is forgotten begins anew.
    if (buckets.size > MOST_NAMES) buckets.clear();
  };

  return {
    take(name, units = 1) {
      if (perSecond === 0) return;
      const now = nowMs();
      const bucket = buckets.get(name) ?? { left: most, atMs: now };
      bucket.left = filled(bucket, now);
      bucket.atMs = now;
      buckets.set(name, bucket);
      if (buckets.size > MOST_NAMES) tidy(now);
      if (bucket.left < 1) {
        const seconds = Math.ceil((1 - bucket.left) / perSecond);
        throw new Refusal(429, `Too many requests: at most ${perSecond} a second. Come again later.`, {}, seconds);
      }
      bucket.left -= units;
    },
  };
}
