import { OF_KEY, values } from './claim-row.js';
import type { ClaimKey } from './claim.js';
import { integer, turnOf, type SqlConnection } from './sql-connection.js';
import type { Step } from './sql-message.js';

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

  /**
   * The same for an invoice that the service pays, and that can be paid until `untilMs`: two payable invoices are two
   * payments. `blocked`: another payable invoice of the debt exists, until then.
   *
   * @param besides payment hashes of the debt that were not handed over
   */
  takePayable(paymentHash: string, debt: Debt, untilMs: number, besides: readonly string[]): Promise<PayableTaken>;
}

export type PayableTaken =
  { readonly kind: 'taken' | 'other-debt' } | { readonly kind: 'blocked'; readonly untilMs: number };

/** Of the debt that has the hash: nothing moved by it, as far as its claim knows. */
const IS_OVER = `EXISTS (SELECT 1 FROM claims WHERE claims.account = payment_hashes.account
    AND claims.operation = payment_hashes.operation AND claims.reference = payment_hashes.reference
    AND claims.phase IN ('void', 'rejected'))`;

export function createSqlDebts({ db, now }: { readonly db: SqlConnection; readonly now: () => number }): DebtStore {
  const insert = (paymentHash: string, debt: Debt): Step => ({
    sql: `INSERT INTO payment_hashes (payment_hash, account, operation, reference, taken_at)
          VALUES (?, ?, ?, ?, ?)
          ON CONFLICT (payment_hash) DO UPDATE SET account = excluded.account, operation = excluded.operation,
            reference = excluded.reference, taken_at = excluded.taken_at WHERE ${IS_OVER}`,
    params: [paymentHash, ...values(debt), now()],
  });
  const ours = (paymentHash: string, debt: Debt): Step => ({
    sql: `SELECT 1 AS ours FROM payment_hashes WHERE payment_hash = ? AND ${OF_KEY}`,
    params: [paymentHash, ...values(debt)],
  });

  return {
    async take(paymentHash, debt) {
      const steps = [insert(paymentHash, debt), ours(paymentHash, debt)];
      const [, found] = await db.write(steps, turnOf.paymentHash(paymentHash));
      return found?.rows.length === 1;
    },

    async takePayable(paymentHash, debt, untilMs, besides) {
      const others = [paymentHash, ...besides];
      const isOther = `${OF_KEY} AND payable_until > ? AND payment_hash NOT IN (${others.map(() => '?').join(', ')})`;
      const ofOthers = [...values(debt), now(), ...others];
      const [, found, , blocking] = await db.write(
        [
          insert(paymentHash, debt),
          ours(paymentHash, debt),
          {
            sql: `UPDATE payment_hashes SET payable_until = ? WHERE payment_hash = ? AND ${OF_KEY}
                  AND NOT EXISTS (SELECT 1 FROM payment_hashes WHERE ${isOther})`,
            params: [untilMs, paymentHash, ...values(debt), ...ofOthers],
          },
          { sql: `SELECT MAX(payable_until) AS until FROM payment_hashes WHERE ${isOther}`, params: ofOthers },
        ],
        turnOf.paymentHash(paymentHash),
      );
      if (found?.rows.length !== 1) return { kind: 'other-debt' };
      const until = blocking?.rows[0]?.['until'];
      return until == null ? { kind: 'taken' } : { kind: 'blocked', untilMs: integer(blocking?.rows[0], 'until') };
    },
  };
}
