import { integer, type SqlConnection } from './sql-connection.js';
import { ENDED_BY_ORDER } from './claim-steps.js';

/** The figures of the store for metrics, each from an index: their cost does not grow with the number of rows. */
export interface StoreFigures {
  /** Claims in `sending` about which no person has decided: POSTs under way, or of unknown outcome. */
  readonly sending: number;
  /** Milliseconds since 1970, by the store's clock. Undefined: there is none. */
  readonly oldestSendingMs: number | undefined;
  /**
   * When the oldest proven event was received that still waits for a flow which has sent money. Undefined: none waits.
   */
  readonly oldestWaitingMs: number | undefined;
  /** Flows whose events a gateway is delivering at this moment. */
  readonly leasedFlows: number;
  /** Of the store's clock, at that moment. */
  readonly nowMs: number;
}

export function createFigures(db: SqlConnection, now: () => number): () => Promise<StoreFigures> {
  return async () => {
    const nowMs = now();
    const [sending, waiting, leased] = await db.read([
      {
        sql: `SELECT COUNT(*) AS count, COALESCE(MIN(sending_at), 0) AS oldest FROM claims
              WHERE phase = 'sending' AND NOT ${ENDED_BY_ORDER}`,
        params: [],
      },
      {
        // Events of a flow without a claim may be early, or another account user's: their wait is normal.
        sql: `SELECT received_at AS oldest FROM inbox
              WHERE state = 'waiting' AND proof IS NOT NULL
                AND EXISTS (SELECT 1 FROM claims WHERE claims.flow_id = inbox.flow_id)
              ORDER BY seq LIMIT 1`,
        params: [],
      },
      {
        sql: `SELECT COUNT(*) AS count FROM inbox_flows WHERE leased_by IS NOT NULL AND due_at > ?`,
        params: [nowMs],
      },
    ]);
    const oldest = (result: typeof sending) => (result?.rows[0] && integer(result.rows[0], 'oldest')) || undefined;
    return {
      sending: integer(sending?.rows[0], 'count'),
      oldestSendingMs: oldest(sending),
      oldestWaitingMs: oldest(waiting),
      leasedFlows: integer(leased?.rows[0], 'count'),
      nowMs,
    };
  };
}
