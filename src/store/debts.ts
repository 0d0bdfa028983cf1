import { OF_KEY, values } from './claim-row.js';
import type { ClaimKey } from './claim.js';
import { turnOf, type SqlConnection } from './sql-connection.js';

/** What a payment over Lightning is for: a POST of ours, by the key of its claim, or a refund that the service makes. */
export type Debt = ClaimKey;

/** Payment hashes, each with the one debt that its payment settles: a second payment of an invoice is lost. */
export interface DebtStore {
  /**
   * Notes, durably and once for all, that this payment is for that debt. False if it is for another one, unless nothing
   * was or will be sent under the claim of that, or the service refused it. Safe to repeat.
   *
   * @param paymentHash 64 hexadecimal digits in lower case
   */
  take(paymentHash: string, debt: Debt): Promise<boolean>;
}

/** Of the debt that has the hash: nothing moved by it, as far as its claim knows. */
const IS_OVER = `EXISTS (SELECT 1 FROM claims WHERE claims.account = payment_hashes.account
    AND claims.operation = payment_hashes.operation AND claims.reference = payment_hashes.reference
    AND claims.phase IN ('void', 'rejected'))`;

export function createSqlDebts({ db, now }: { readonly db: SqlConnection; readonly now: () => number }): DebtStore {
  return {
    async take(paymentHash, debt) {
      const [, found] = await db.write(
        [
          {
            sql: `INSERT INTO payment_hashes (payment_hash, account, operation, reference, taken_at)
                  VALUES (?, ?, ?, ?, ?)
                  ON CONFLICT (payment_hash) DO UPDATE SET account = excluded.account, operation = excluded.operation,
                    reference = excluded.reference, taken_at = excluded.taken_at WHERE ${IS_OVER}`,
            params: [paymentHash, ...values(debt), now()],
          },
          {
            sql: `SELECT 1 AS ours FROM payment_hashes WHERE payment_hash = ? AND ${OF_KEY}`,
            params: [paymentHash, ...values(debt)],
          },
        ],
        turnOf.paymentHash(paymentHash),
      );
      return found?.rows.length === 1;
    },
  };
}
