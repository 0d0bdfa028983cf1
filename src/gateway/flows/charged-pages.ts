import { createRateLimit } from '../http/rate-limit.js';
import { Refusal } from '../http/refusal.js';

/**
 * Charges the caller of this name for pages of a list.
 * @returns gives so many of them back
 * @throws Refusal 429 if this name, or all together, have read too many
 */
export type TakePages = (name: string, pages?: number) => (unused: number) => void;

/** Of a stored list: what a caller gets who asks for no number. */
export const ROWS_OF_A_PAGE = 50;

/**
 * Long lists cost more than most requests: those who read them must leave room for others, and for the counts of
 * `/metrics`, which Temporal limits together with them.
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

/** A filter may leave little of each page: after so many, the rest is for the next request. */
const MOST_PAGES = 20;

/**
 * Reads one page after another until so many rows are found. If the caller may read no more, it goes on from the last page
 * that there was.
 * @param read reads at most so many rows from there on, and charges for it
 */
export async function gatherPages<Row>(
  limit: number,
  from: string | null,
  read: (
    most: number,
    from: string | null,
  ) => Promise<{ readonly found: readonly Row[]; readonly next: string | null }>,
): Promise<{ readonly found: readonly Row[]; readonly next: string | null }> {
  const found: Row[] = [];
  let next = from;
  for (let pages = 0; pages < MOST_PAGES; pages += 1) {
    try {
      const page = await read(limit - found.length, next);
      found.push(...page.found);
      next = page.next;
    } catch (error) {
      if (pages > 0 && error instanceof Refusal && error.status === 429) break;
      throw error;
    }
    if (next === null || found.length >= limit) break;
  }
  return { found, next };
}
