/** Cut before any pattern sees it. */
const MOST_CHARACTERS = 48;
const DATE = /^(\d{4})-(\d\d)-(\d\d)/;
const OF_DAY = /^(?:t| )(\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?/;
const ZONE = /^ ?(?:z|utc|gmt|([+-])(\d\d)(?::?(\d\d))?)$/;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/**
 * A time from outside (ISO 8601, RFC 3339), in milliseconds since 1970. A date is its first moment. Without a zone it is
 * in UTC: the zone of the machine that reads it never matters. Never throws.
 *
 * @returns undefined if it is no such text, or names a day that does not exist
 */
export function readTime(value: unknown): number | undefined {
  if (typeof value !== 'string' || value.length > MOST_CHARACTERS) return undefined;
  const text = value.trim().toLowerCase();
  const [date, year, month, day] = DATE.exec(text) ?? [];
  if (date === undefined) return undefined;
  const dayMs = startOfDay(Number(year), Number(month), Number(day));
  if (dayMs === undefined || text.length === date.length) return dayMs;
  const [time, hours, minutes, seconds = '0', fraction = ''] = OF_DAY.exec(text.slice(date.length)) ?? [];
  if (time === undefined) return undefined;
  const timeMs = withinDay(Number(hours), Number(minutes), Number(seconds), fraction);
  const zoneMs = zoneOf(text.slice(date.length + time.length));
  return timeMs === undefined || zoneMs === undefined ? undefined : dayMs + timeMs - zoneMs;
}

/** From one time to another of the same clock; undefined if one of them cannot be read. */
export function durationMs(from: unknown, to: unknown): number | undefined {
  const [fromMs, toMs] = [readTime(from), readTime(to)];
  return fromMs === undefined || toMs === undefined ? undefined : toMs - fromMs;
}

/** In UTC; undefined for a day that does not exist. */
export function startOfDay(year: number, month: number, day: number): number | undefined {
  // `Date.UTC` takes the years below 100 for those of the last century.
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day ? date.getTime() : undefined;
}

/** A minute may have a leap second, and 24:00 is the end of the day. Digits behind the thousandths are cut. */
export function withinDay(hours: number, minutes: number, seconds: number, fraction = ''): number | undefined {
  const ms = (hours * 60 + minutes) * MINUTE_MS + seconds * 1_000 + Number(fraction.padEnd(3, '0').slice(0, 3));
  const isOfClock = hours <= 23 && minutes <= 59 && seconds <= 60;
  return isOfClock || (hours === 24 && ms === DAY_MS) ? ms : undefined;
}

function zoneOf(text: string): number | undefined {
  if (text === '') return 0;
  const [zone, sign, hours = '0', minutes = '0'] = ZONE.exec(text) ?? [];
  if (zone === undefined || Number(hours) > 23 || Number(minutes) > 59) return undefined;
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * MINUTE_MS;
}
