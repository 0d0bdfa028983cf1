import { isIPv6 } from 'node:net';
import { withoutPort } from '../../config/networks.js';
import { Refusal } from './refusal.js';

export interface RateLimit {
  /** It limits nothing. */
  readonly isNone: boolean;
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
/** Names beyond this are tidied up: an attacker may have many addresses. */
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

  const filled = ({ left, atMs }: Bucket, now: number) => Math.min(most, left + ((now - atMs) / 1_000) * perSecond);
  const tidy = (now: number): void => {
    for (const [name, bucket] of buckets) if (filled(bucket, now) >= most) buckets.delete(name);
    // Still too many, all of them busy. The least recently used half is dropped, and starts again: one pass over all of
    // them for thousands of requests.
    for (const name of buckets.size > MOST_NAMES ? buckets.keys() : []) {
      if (buckets.size <= MOST_NAMES / 2) break;
      buckets.delete(name);
    }
  };

  return {
    isNone: perSecond === 0,
    take(name, units = 1) {
      if (perSecond === 0) return () => undefined;
      const now = nowMs();
      const bucket = buckets.get(name) ?? { left: most, atMs: now };
      bucket.left = filled(bucket, now);
      bucket.atMs = now;
      const lacking = 1 - bucket.left;
      if (lacking <= 0) bucket.left -= units;
      // Moves it behind all others: a map keeps the position of the first insertion.
      buckets.delete(name);
      buckets.set(name, bucket);
      // After the units were taken: a full bucket would be dropped at once.
      if (buckets.size > MOST_NAMES) tidy(now);
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

/**
 * Charges the caller of this name for pages of a list.
 * @returns gives so many of them back
 * @throws Refusal 429 if this name, or all together, have read too many
 */
export type TakePages = (name: string, pages?: number) => (unused: number) => void;

/** Of a stored list: what a caller gets who asks for no number. */
const ROWS_OF_A_PAGE = 50;

/**
 * Long lists cost more than most requests: those who read them must leave room for others.
 * @param perSecond for each name; for all together twice as many
 */
export function createPageLimit(perSecond: number, monotonicMs: () => number): TakePages {
  const ofEach = createRateLimit(perSecond, monotonicMs, 2);
  const ofAll = createRateLimit(2 * perSecond, monotonicMs, 2);
  return (name, pages) => {
    const giveBack = ofEach.take(name, pages);
    try {
      const giveAllBack = ofAll.take('all', pages);
      return (unused) => {
        giveBack(unused);
        giveAllBack(unused);
      };
    } catch (error) {
      giveBack();
      throw error;
    }
  };
}

/**
 * Reads rows of the store and charges for the full pages among them: a short list is a request like others.
 * @param rows most that the caller asks for
 */
export async function readCharged<Row>(
  takePages: TakePages,
  name: string,
  rows: number,
  read: () => Promise<readonly Row[]>,
): Promise<readonly Row[]> {
  const asked = Math.ceil(rows / ROWS_OF_A_PAGE);
  const giveBack = takePages(name, asked);
  let found: readonly Row[] = [];
  try {
    found = await read();
    return found;
  } finally {
    giveBack(asked - Math.floor(found.length / ROWS_OF_A_PAGE));
  }
}

/** The name of an address for a limit: of IPv6 its /64, which is one subscriber's, of IPv4 all of it. */
export function networkOf(address: string): string {
  const bare = withoutPort(address)
    .replace(/^::ffff:(?=\d+\.)/i, '')
    .replace(/%.*$/, '');
  if (!isIPv6(bare)) return bare;
  const [head = '', tail] = bare.toLowerCase().split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => '0');
  const groups = tail === undefined ? before : [...before, ...zeros, ...after];
  return `${groups
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':')}::/64`;
}
