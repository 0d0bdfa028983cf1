import { integer } from './column.js';
import type { QuoteStore, QuoteTerms } from './quote.js';
import type { SealedJson } from './sealed-json.js';
import { turnOf, type SqlConnection } from './sql-connection.js';
import type { SqlBlob } from './sql-message.js';

/** A quote is valid for a minute; a flow that was delayed still learns how old its own is. */
const KEPT_MS = 86_400_000;

export function createSqlQuotes(deps: {
  readonly db: SqlConnection;
  readonly sealed: SealedJson;
  readonly now: () => number;
}): QuoteStore {
  const { db, sealed, now } = deps;
  const placeOf = (account: string, rateId: string) => ['quotes', account, rateId, 'terms'];

  return {
    async remember(account, quote, tookMs) {
      const { rateId } = quote;
      const nowMs = now();
      const request = [
        { sql: `DELETE FROM quotes WHERE quoted_at < ?`, params: [nowMs - KEPT_MS] },
        {
          // The first one stays: a rate id that is given twice is as old as it was.
          sql: `INSERT INTO quotes (account, rate_id, quoted_at, terms) VALUES (?, ?, ?, ?)
                ON CONFLICT (account, rate_id) DO NOTHING`,
          params: [account, rateId, nowMs - Math.ceil(tookMs), sealed.seal(placeOf(account, rateId), quote)],
        },
      ];
      await db.write(request, turnOf.quotes);
    },

    async recall(account, rateId) {
      const sql = `SELECT quoted_at, terms FROM quotes WHERE account = ? AND rate_id = ?`;
      const [found] = await db.read([{ sql, params: [account, rateId] }]);
      const row = found?.rows[0];
      if (row === undefined) return undefined;
      const terms = sealed.open(placeOf(account, rateId), row['terms'] as SqlBlob) as QuoteTerms;
      return { ...terms, ageMs: Math.max(0, now() - integer(row, 'quoted_at')) };
    },
  };
}
