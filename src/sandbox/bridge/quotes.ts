import type { Clock } from '../clock.js';
import type { Database } from '../database.js';
import { Refusal } from '../refusal.js';

/** "Validity of a rate quote: 60 seconds". */
export const QUOTE_LIFE_MS = 60_000;

export interface QuotedDeal {
  readonly source_amount: number;
  readonly source_currency: string;
  readonly chain: string;
  readonly token: string;
}

export interface Quotes {
  /** Inside `database.write`. */
  keep(rateId: string, deal: QuotedDeal, expiresAt: number): void;
  /** Why this deposit may not use the quote, or undefined. A reference that used it may use it again (repeat modes). */
  refusal(rateId: string, reference: string, deal: QuotedDeal): Refusal | undefined;
  /** Inside `database.write`. */
  use(rateId: string, reference: string): void;
}

const invalidRate = (why: string) => new Refusal(400, 'INVALID_RATE', 'Invalid Rate', { errors: [at(why)] });
const at = (message: string) => ({ path: 'rate_id', message });

export const rateExpired = () =>
  new Refusal(400, 'RATE_EXPIRED', 'Rate Expired', { errors: [at('the quote has expired')] });

export function createQuotes(deps: { database: Database; clock: Clock }): Quotes {
  const { database, clock } = deps;
  return {
    keep(rateId, deal, expiresAt) {
      database.run(
        'INSERT INTO quotes (rate_id, quote, expires_at) VALUES (?, ?, ?)',
        rateId,
        JSON.stringify(deal),
        expiresAt,
      );
    },
    refusal(rateId, reference, deal) {
      const row = database.get<{ quote: string; expires_at: number; used_by: string | null }>(
        'SELECT quote, expires_at, used_by FROM quotes WHERE rate_id = ?',
        rateId,
      );
      if (row === undefined) return invalidRate('there is no such quote');
      if (row.used_by !== null && row.used_by !== reference) return invalidRate('the quote was used before');
      if (clock.now() >= row.expires_at) return rateExpired();
      const quoted = JSON.parse(row.quote) as QuotedDeal;
      for (const member of ['source_amount', 'source_currency', 'chain', 'token'] as const) {
        if (quoted[member] !== deal[member]) return invalidRate(`the quote was made for another ${member}`);
      }
      return undefined;
    },
    use(rateId, reference) {
      database.run('UPDATE quotes SET used_by = ? WHERE rate_id = ?', reference, rateId);
    },
  };
}
