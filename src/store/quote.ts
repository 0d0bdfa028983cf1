import { createHash } from 'node:crypto';
import { integer, turnOf, type SqlConnection } from './sql-connection.js';
import type { SealedJson } from './store-key.js';
import type { SqlBlob } from './sql-message.js';

/** A quote that passed through a gateway. */
export interface QuoteTerms {
  /** The service's own id of the quote. */
  readonly rateId: string;
  /** From its creation to its end, by the service's own clock, ms. */
  readonly lifeMs: number;
  /** Decimal strings; null if the service did not give them. */
  readonly cryptoAmount: string | null;
  readonly cryptoUnit: string | null;
  /** The requested terms. */
  readonly sourceAmount: string;
  readonly sourceCurrency: string;
  readonly chain: string;
  readonly token: string;
}

interface RememberedQuote extends QuoteTerms {
  /** By the store's clock, counted from before it was requested. */
  readonly ageMs: number;
}

/** Quotes, by account and `rate_id`: the process that deposits with one may be another than the one that saw it. */
export interface QuoteStore {
  /** @param tookMs how long ago, by a monotonic clock, it was requested */
  remember(account: string, quote: QuoteTerms, tookMs: number): Promise<void>;
  recall(account: string, rateId: string): Promise<RememberedQuote | undefined>;
}

/** A quote is valid for a minute; a delayed flow can still find out how old its own is. */
const KEPT_MS = 86_400_000;

/** The place that the terms of a quote are bound to, by the key of its row. */
export const quotePlace = (account: string, key: string): readonly string[] => ['quotes', account, key, 'terms'];

/**
 * The `rate_id` of a row. The service gives an id of any length, and an index entry has 2,704 bytes: a longer one would
 * make the database refuse it, together with the quotes of other callers in its transaction.
 */
const keyOf = (rateId: string): string => createHash('sha256').update(rateId).digest('hex');

export function createSqlQuotes(deps: {
  readonly db: SqlConnection;
  readonly sealed: SealedJson;
  readonly now: () => number;
}): QuoteStore {
  const { db, sealed, now } = deps;
  return {
    async remember(account, quote, tookMs) {
      const key = keyOf(quote.rateId);
      const nowMs = now();
      const request = [
        {
          // Not those that another process is deleting: it may hang.
          sql: `DELETE FROM quotes WHERE (account, rate_id) IN
                  (SELECT account, rate_id FROM quotes WHERE quoted_at < ? ${db.dialect.forUpdateSkippingLocked})`,
          params: [nowMs - KEPT_MS],
        },
        {
          // The first one stays: a rate id that is given twice keeps its age.
          sql: `INSERT INTO quotes (account, rate_id, quoted_at, terms) VALUES (?, ?, ?, ?)
                ON CONFLICT (account, rate_id) DO NOTHING`,
          params: [account, key, nowMs - Math.ceil(tookMs), sealed.seal(quotePlace(account, key), quote)],
        },
      ];
      await db.write(request, turnOf.quotes);
    },

    async recall(account, rateId) {
      const key = keyOf(rateId);
      const sql = `SELECT quoted_at, terms FROM quotes WHERE account = ? AND rate_id = ?`;
      const [found] = await db.read([{ sql, params: [account, key] }]);
      const row = found?.rows[0];
      if (row === undefined) return undefined;
      const terms = sealed.open(quotePlace(account, key), row['terms'] as SqlBlob) as QuoteTerms;
      return { ...terms, ageMs: Math.max(0, now() - integer(row, 'quoted_at')) };
    },
  };
}
