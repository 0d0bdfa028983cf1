import { startOfDay, withinDay } from './time.js';

/** The longest form has 33. Cut before any pattern sees it. */
const MOST_CHARACTERS = 40;
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const CLOCK = '(\\d\\d):(\\d\\d):(\\d\\d)';
/** `Sun, 06 Nov 1994 08:49:37 GMT` */
const FIXED = new RegExp(`^[a-z]{3}, (\\d\\d) ([a-z]{3}) (\\d{4}) ${CLOCK} gmt$`);
/** `Sunday, 06-Nov-94 08:49:37 GMT` */
const RFC_850 = new RegExp(`^[a-z]{6,9}, (\\d\\d)-([a-z]{3})-(\\d\\d) ${CLOCK} gmt$`);
/** `Sun Nov  6 08:49:37 1994` */
const ASCTIME = new RegExp(`^[a-z]{3} ([a-z]{3}) ([ \\d]\\d) ${CLOCK} (\\d{4})$`);

/**
 * A date of HTTP in its three forms (RFC 9110, 5.6.7), all in UTC, in milliseconds since 1970. Never throws.
 *
 * @param nowMs a date with two digits of its year is at most 50 years after it
 * @returns undefined if it is none
 */
export function readHttpDate(value: unknown, nowMs: number): number | undefined {
  if (typeof value !== 'string' || value.length > MOST_CHARACTERS) return undefined;
  const text = value.trim().toLowerCase();
  const [, day, month, year, ...clock] = FIXED.exec(text) ?? [];
  if (day !== undefined) return timeOf(Number(year), month, day, clock);
  const [, shortDay, shortMonth, shortYear, ...shortClock] = RFC_850.exec(text) ?? [];
  if (shortDay !== undefined) {
    const ofYear = (year: number) => timeOf(year, shortMonth, shortDay, shortClock);
    const year = latestYear(Number(shortYear), nowMs);
    return (ofYear(year) ?? 0) > fiftyYearsAfter(nowMs) ? ofYear(year - 100) : ofYear(year);
  }
  const [, ofMonth, ofDay, hours = '', minutes = '', seconds = '', ofYear] = ASCTIME.exec(text) ?? [];
  return ofDay === undefined ? undefined : timeOf(Number(ofYear), ofMonth, ofDay, [hours, minutes, seconds]);
}

function timeOf(
  year: number,
  month: string | undefined,
  day: string,
  [hours, minutes, seconds]: readonly string[],
): number | undefined {
  const dayMs = startOfDay(year, MONTHS.indexOf(month ?? '') + 1, Number(day));
  const timeMs = withinDay(Number(hours), Number(minutes), Number(seconds));
  return dayMs === undefined || timeMs === undefined ? undefined : dayMs + timeMs;
}

/** The latest year of these two digits that is at most 50 years after this one. */
function latestYear(twoDigits: number, nowMs: number): number {
  const latest = new Date(nowMs).getUTCFullYear() + 50;
  return latest - ((latest + 100 - twoDigits) % 100);
}

function fiftyYearsAfter(nowMs: number): number {
  const date = new Date(nowMs);
  return date.setUTCFullYear(date.getUTCFullYear() + 50);
}
