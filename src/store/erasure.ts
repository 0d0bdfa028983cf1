import { placeOf, values } from './claim-row.js';
import type { ClaimKey } from './claim.js';
import { text, turnOf, type SqlConnection } from './sql-connection.js';
import type { SealedJson } from './store-key.js';

/** How much of a flow was erased. Nothing was left of an earlier erasure. */
export interface Erased {
  /** Events whose body or detail was erased. */
  readonly events: number;
  /** Claims whose answer, refusal or reason was erased. */
  readonly claims: number;
  /** Entries of the audit log whose details were erased. */
  readonly entries: number;
}

const ERASED_NOTE = '(erased)';
/** An event that is still to be delivered keeps its body. */
const IS_SETTLED = `state NOT IN ('waiting', 'delivered')`;

/**
 * Erases a flow's sealed values in one transaction. References, phases, fingerprints, statuses, hashes, and who did what
 * when stay, and so does the entry that records the erasure.
 */
export function createErasure({ db, sealed }: { readonly db: SqlConnection; readonly sealed: SealedJson }) {
  return async (flowId: string): Promise<Erased> => {
    const sql = `SELECT account, operation, reference FROM claims WHERE flow_id = ?`;
    const [found] = await db.read([{ sql, params: [flowId] }]);
    const keys = (found?.rows ?? []).map((row): ClaimKey => ({
      account: text(row, 'account'),
      operation: text(row, 'operation'),
      reference: text(row, 'reference'),
    }));
    const [events, claims, entries] = await db.write(
      [
        {
          sql: `UPDATE inbox SET body = NULL, detail = NULL
                WHERE flow_id = ? AND ${IS_SETTLED} AND (body IS NOT NULL OR detail IS NOT NULL)`,
          params: [flowId],
        },
        {
          sql: `UPDATE claims SET answer = NULL, rejection = NULL, kept = NULL, reason = NULL
                WHERE flow_id = ? AND
                  (answer IS NOT NULL OR rejection IS NOT NULL OR kept IS NOT NULL OR reason IS NOT NULL)`,
          params: [flowId],
        },
        {
          sql: `UPDATE audit SET details = NULL WHERE flow_id = ? AND kind <> 'erase' AND details IS NOT NULL`,
          params: [flowId],
        },
        {
          // What people were notified of, by `proposedMatterId`.
          sql: `DELETE FROM matters WHERE id IN
                (SELECT 'proposed/' || id || '/' || flow_id FROM proposals WHERE flow_id = ?)`,
          params: [flowId],
        },
        { sql: `DELETE FROM proposals WHERE flow_id = ?`, params: [flowId] },
        ...keys.map((key) => ({
          sql: `UPDATE claim_orders SET note = ? WHERE account = ? AND operation = ? AND reference = ?`,
          params: [sealed.seal(placeOf(key, 'note'), ERASED_NOTE), ...values(key)],
        })),
      ],
      turnOf.erasing(flowId),
    );
    return { events: events?.changes ?? 0, claims: claims?.changes ?? 0, entries: entries?.changes ?? 0 };
  };
}
