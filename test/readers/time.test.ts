import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { readHttpDate } from '../../src/readers/http-date.js';
import { readRetryAfter, readSeconds } from '../../src/readers/retry-after.js';
import { durationMs, readTime } from '../../src/readers/time.js';

const moment = fc.integer({ min: Date.UTC(1, 0), max: Date.UTC(9998, 0) });
const iso = (ms: number) => new Date(ms).toISOString();

describe('readTime', () => {
  it('reads a time in any zone, with any fraction, and one without a zone as UTC', () => {
    const zone = fc.integer({ min: -23 * 60, max: 23 * 60 });
    const spelling = fc.record({ gap: fc.constantFrom('T', 't', ' '), colon: fc.constantFrom(':', ''), digits: fc.integer({ min: 3, max: 9 }), point: fc.constantFrom('.', ',') }); // prettier-ignore
    fc.assert(
      fc.property(moment, zone, spelling, (ms, minutes, { gap, colon, digits, point }) => {
        const there = iso(ms + minutes * 60_000)
          .replace('T', gap)
          .slice(0, -1)
          .replace('.', point)
          .padEnd(20 + digits, '7');
        const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
        const offset = `${minutes < 0 ? '-' : '+'}${two(hours)}${colon}${two(rest)}`;
        expect(readTime(there + offset)).toBe(ms);
        expect(readTime(iso(ms).slice(0, -1))).toBe(ms);
        expect(readTime(`${iso(ms).slice(0, -1)}z`)).toBe(ms);
      }),
      { numRuns: 1_000 },
    );
  });

  it('reads no time of a day that does not exist, and every one that does', () => {
    const part = (max: number) => fc.integer({ min: 0, max });
    fc.assert(
      fc.property(
        part(9_999),
        part(13),
        part(32),
        part(25),
        part(61),
        part(61),
        (year, month, day, hours, minutes, seconds) => {
          const text = `${String(year).padStart(4, '0')}-${two(month)}-${two(day)}T${two(hours)}:${two(minutes)}:${two(seconds)}Z`;
          const read = readTime(text);
          if (read === undefined)
            return expect(isDay(year, month, day) && hours < 24 && minutes < 60 && seconds < 60).toBe(false);
          if (seconds < 60 && hours < 24)
            expect(iso(read).slice(-13)).toBe(`${two(hours)}:${two(minutes)}:${two(seconds)}.000Z`);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  /** The examples of RFC 3339, 5.8, and of ISO 8601. */
  it.each([
    ['1985-04-12T23:20:50.52Z', '1985-04-12T23:20:50.520Z'],
    ['1996-12-19T16:39:57-08:00', '1996-12-20T00:39:57.000Z'],
    ['1990-12-31T23:59:60Z', '1991-01-01T00:00:00.000Z'],
    ['1990-12-31T15:59:60-08:00', '1991-01-01T00:00:00.000Z'],
    ['1937-01-01T12:00:27.87+00:20', '1937-01-01T11:40:27.870Z'],
    ['1985-04-12', '1985-04-12T00:00:00.000Z'],
    ['1985-04-12T23:20', '1985-04-12T23:20:00.000Z'],
    ['1985-04-12T23:20:30+04', '1985-04-12T19:20:30.000Z'],
    ['1985-04-12T24:00:00', '1985-04-13T00:00:00.000Z'],
    ['1985-04-12T10:15:30,5+0400', '1985-04-12T06:15:30.500Z'],
    ['2000-02-29T00:00:00Z', '2000-02-29T00:00:00.000Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
    ['2026-03-29T02:30:00', '2026-03-29T02:30:00.000Z'],
    ['2026-01-01 10:00:00 UTC', '2026-01-01T10:00:00.000Z'],
    ['2026-01-01 10:00:00+00', '2026-01-01T10:00:00.000Z'],
    [' 2026-01-01T10:00:00.57Z ', '2026-01-01T10:00:00.570Z'],
  ])('reads %s as %s', (text, is) => {
    expect(readTime(text)).toBe(new Date(is).getTime());
  });

  it.each([
    '2026-02-29',
    '2026-02-30T00:00:00Z',
    '2026-04-31',
    '2026-13-01',
    '2026-00-01',
    '2026-01-00',
    '2026-01-01T25:00:00Z',
    '2026-01-01T24:00:01Z',
    '2026-01-01T23:60:00Z',
    '2026-01-01T10:00:61Z',
    '2026-01-01T10',
    '2026-01-01T10:00:00+24:00',
    '2026-01-01T10:00:00+01:60',
    '2026-01-01T10:00:00 Paris',
    '01/02/2026',
    '1 January 2026',
    '1767225600',
    'soon',
    '',
    ' ',
    '-5',
    1_767_225_600_000,
    null,
    undefined,
    {},
    new Date(0),
  ])('cannot read %p', (value) => {
    expect(readTime(value)).toBeUndefined();
  });

  it('reads no long text', () => {
    for (const piece of ['0', '-', ' ', '2026-01-01T10:00:00.', '0:'])
      expect(readTime(piece.repeat(1_000_000))).toBeUndefined();
  });

  it('never throws, whatever comes', () => {
    fc.assert(fc.property(fc.anything(), (value) => void readTime(value)));
  });

  it('gives the time from one to another, if both can be read', () => {
    expect(durationMs('2026-01-01T10:00:00', '2026-01-01T10:00:00+00:00')).toBe(0);
    expect(durationMs('2026-01-01T10:00:00Z', '2026-01-01T10:15')).toBe(900_000);
    for (const unread of ['soon', null, undefined]) {
      expect([durationMs(unread, '2026-01-01'), durationMs('2026-01-01', unread)]).toEqual([undefined, undefined]);
    }
  });
});

const NOW_MS = Date.UTC(2026, 10, 28);

describe('readHttpDate', () => {
  /** The examples of RFC 9110, 5.6.7. */
  it.each(['Sun, 06 Nov 1994 08:49:37 GMT', 'Sunday, 06-Nov-94 08:49:37 GMT', 'Sun Nov  6 08:49:37 1994'])(
    'reads %s',
    (text) => {
      expect(readHttpDate(text, NOW_MS)).toBe(Date.UTC(1994, 10, 6, 8, 49, 37));
    },
  );

  it('reads each time in its three forms', () => {
    const seconds = fc.integer({ min: NOW_MS / 1_000 - 50 * 31_536_000, max: NOW_MS / 1_000 + 49 * 31_536_000 });
    fc.assert(
      fc.property(seconds, (second) => {
        for (const form of formsOf(second * 1_000))
          expect([form, readHttpDate(form, NOW_MS)]).toEqual([form, second * 1_000]);
      }),
      { numRuns: 500 },
    );
  });

  it('takes a year of two digits for one of the past if it would be more than 50 years ahead', () => {
    expect(readHttpDate('Friday, 01-Jan-76 00:00:00 GMT', NOW_MS)).toBe(Date.UTC(2076, 0, 1));
    expect(readHttpDate('Friday, 01-Jan-77 00:00:00 GMT', NOW_MS)).toBe(Date.UTC(1977, 0, 1));
    expect(readHttpDate('Friday, 01-Jan-27 00:00:00 GMT', NOW_MS)).toBe(Date.UTC(2027, 0, 1));
  });

  it.each([
    'Sun, 31 Feb 1994 08:49:37 GMT',
    'Sun, 06 Xyz 1994 08:49:37 GMT',
    'Sun, 06 Nov 1994 24:49:37 GMT',
    'Sun, 06 Nov 1994 08:49:37',
    'Sun, 06 Nov 1994 08:49:37 CET',
    'Sun, 06 Nov 1994 08:49:37 +0000',
    '06 Nov 1994 08:49:37 GMT',
    '1994-11-06T08:49:37Z',
    'soon',
    '',
    '-5',
    7,
    null,
  ])('cannot read %p', (value) => {
    expect(readHttpDate(value, NOW_MS)).toBeUndefined();
  });
});

describe('readRetryAfter', () => {
  it.each([
    ['7', 7_000],
    [' 120 ', 120_000],
    ['0', 0],
    ['1.5', 1_500],
    ['Sat, 28 Nov 2026 00:00:30 GMT', 30_000],
    ['Saturday, 28-Nov-26 00:00:30 GMT', 30_000],
    ['Sat Nov 28 00:00:30 2026', 30_000],
    ['Sat, 28 Nov 1980 00:00:30 GMT', 0],
  ])('reads %p as %d ms from now', (text, ms) => {
    expect(readRetryAfter(text, NOW_MS)).toBe(ms);
  });

  it.each(['soon', '-5', 'NaN', '1e9', '', 'Infinity', undefined, null, [7]])('reads no hint from %p', (value) => {
    expect(readRetryAfter(value, NOW_MS)).toBeUndefined();
  });

  it('cuts a megabyte before any pattern sees it', () => {
    for (const piece of ['0', 'Mon, 000', ' ', '\\', 'GMT ', 'a']) {
      expect([readRetryAfter(piece.repeat(1_000_000), NOW_MS), readSeconds(piece.repeat(1_000_000))]).toEqual([
        undefined,
        undefined,
      ]);
    }
  });
});

const two = (value: number) => String(value).padStart(2, '0');
const isDay = (year: number, month: number, day: number) =>
  month >= 1 && month <= 12 && day >= 1 && day <= [31, year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]!; // prettier-ignore

const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];

function formsOf(ms: number): readonly string[] {
  // "Sun, 06 Nov 1994 08:49:37 GMT"
  const fixed = new Date(ms).toUTCString();
  const [, day = '', month = '', year = '', clock = ''] = fixed.split(' ');
  const name = DAYS[new Date(ms).getUTCDay()]!;
  return [
    fixed,
    `${name}, ${day}-${month}-${year.slice(-2)} ${clock} GMT`,
    `${name.slice(0, 3)} ${month} ${String(Number(day)).padStart(2, ' ')} ${clock} ${year}`,
  ];
}
