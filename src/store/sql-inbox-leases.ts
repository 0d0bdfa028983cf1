import type { InboxStore } from './inbox.js';
import { integer, text, turnOf, type SqlConnection } from './sql-connection.js';
import type { Request, Row, SqlValue, Step, StepResult } from './sql-message.js';
import type { InboxRow } from '../protocol/events.js';

/** Ours, free, or of a holder whose time is up. Another gateway's lease is left alone. */
const NOT_OTHERS = `(leased_by IS NULL OR leased_by = ? OR due_at <= ?)`;
/** Forged events may wait for a flow before it exists. A flow gets no more untrusted ones than these. */
const MOST_UNPROVEN_RELEASED = 20;

/** Of a row of `inbox`. */
const IS_PROVEN = `CASE WHEN proof IS NULL THEN 0 ELSE 1 END`;
const STILL_PROVEN = `has_proven = CASE WHEN excluded.has_proven = 1 THEN 1 ELSE inbox_flows.has_proven END`;
const PROVEN_WAITS = `CASE WHEN EXISTS (SELECT 1 FROM inbox WHERE inbox.flow_id = inbox_flows.flow_id
  AND inbox.state = 'waiting' AND inbox.proof IS NOT NULL) THEN 1 ELSE 0 END`;

const NO_LEASE = `leased_by = NULL, lease = NULL, woken = 0`;

export type InboxLeases = Pick<InboxStore, 'lease' | 'waitingOf' | 'markDelivered' | 'defer' | 'releaseWaiting'> & {
  /** This event's flow waits; if nothing else of it waits and `leaseMs` is given, it is leased at once. */
  admit(id: string, atMs: number, leaseMs: number | undefined): Step;
  /** The flow has a proven event waiting, from now on. */
  prove(flowId: string): Step;
  /** The flow of this event, if it waits, is due now, or at the end of its lease. */
  wake(id: string, atMs: number): Step;
};

/**
 * Whose turn it is. The table `inbox_flows` holds each flow with waiting rows: when it is due, and while it is leased,
 * until when and by whom. So a flow is leased as a whole, and its events keep their order.
 */
export function createInboxLeases(deps: {
  readonly db: SqlConnection;
  readonly now: () => number;
  readonly toRow: (row: Row) => InboxRow;
  /** Unique to this store object. */
  readonly instance: string;
}): InboxLeases {
  const { db, now, toRow, instance } = deps;
  let leases = 0;
  const writeOf = (flowId: string, request: Request): Promise<readonly StepResult[]> =>
    db.write(request, turnOf.inbox(flowId));

  const IDS = `(SELECT value FROM ${db.dialect.elements}(?))`;

  /** Removes the flow from the list of flows with waiting events, if nothing waits. */
  const forgetIdle = (flowId: string): Step => ({
    sql: `DELETE FROM inbox_flows WHERE flow_id = ? AND NOT EXISTS
            (SELECT 1 FROM inbox WHERE inbox.flow_id = inbox_flows.flow_id AND inbox.state = 'waiting')`,
    params: [flowId],
  });

  const OF_LEASE = `leased_by = ? AND lease = ?`;

  /** Flows that were leased with nothing waiting: their rows were settled in another way. */
  const forgetAllIdle = async (lease: string, busy: ReadonlySet<string>): Promise<void> => {
    const [found] = await db.read([
      { sql: `SELECT flow_id FROM inbox_flows WHERE ${OF_LEASE}`, params: [instance, lease] },
    ]);
    const idle = (found?.rows ?? []).map((row) => text(row, 'flow_id')).filter((flowId) => !busy.has(flowId));
    await Promise.all(idle.map((flowId) => writeOf(flowId, [forgetIdle(flowId)])));
  };

  // `woken` informs the holder of the lease: if its attempt fails, the next one comes at once.
  const DUE_NOW = `
    woken = CASE WHEN inbox_flows.leased_by IS NOT NULL AND inbox_flows.due_at > ? THEN 1 ELSE 0 END,
    due_at = CASE WHEN inbox_flows.leased_by IS NOT NULL AND inbox_flows.due_at > ? THEN inbox_flows.due_at
                  WHEN inbox_flows.due_at < ? THEN inbox_flows.due_at ELSE ? END`;
  const dueNow = (at: number): SqlValue[] => [at, at, at, at];

  const DUE = `SELECT flow_id FROM inbox_flows WHERE due_at <= ?`;
  const FIRST = `ORDER BY due_at LIMIT ? ${db.dialect.forUpdateSkippingLocked}`;

  const newLease = (): string => {
    leases += 1;
    return String(leases);
  };

  return {
    admit: (id, at, leaseMs) => {
      const lease = leaseMs === undefined ? [at, null, null] : [at + leaseMs, instance, newLease()];
      return {
        // Looked for first: an insert waits for a gateway that leases this flow, and others with it, at this moment. A
        // row that is found stays until this is committed: its deletion takes the turn of its flow, too.
        sql: `INSERT INTO inbox_flows (flow_id, due_at, has_proven, leased_by, lease)
                SELECT flow_id, CAST(? AS BIGINT), ${IS_PROVEN}, CAST(? AS TEXT), CAST(? AS TEXT)
                FROM inbox WHERE id = ? AND state = 'waiting' AND flow_id IS NOT NULL
                  AND NOT EXISTS (SELECT 1 FROM inbox_flows WHERE inbox_flows.flow_id = inbox.flow_id)
              ON CONFLICT DO NOTHING`,
        params: [...lease, id],
      };
    },

    prove: (flowId) => ({
      sql: `UPDATE inbox_flows SET has_proven = 1 WHERE flow_id = ? AND has_proven = 0`,
      params: [flowId],
    }),

    wake: (id, at) => ({
      sql: `INSERT INTO inbox_flows (flow_id, due_at, has_proven)
              SELECT flow_id, ?, ${IS_PROVEN} FROM inbox
              WHERE id = ? AND state = 'waiting' AND flow_id IS NOT NULL
            ON CONFLICT (flow_id) DO UPDATE SET ${DUE_NOW}, ${STILL_PROVEN}`,
      params: [at, id, ...dueNow(at)],
    }),

    async lease({ proven, unproven, perFlow, leaseMs }) {
      const at = now();
      const lease = newLease();
      const [leased, found] = await db.write(
        [
          {
            sql: `WITH proven AS (${DUE} AND has_proven = 1 ${FIRST}), unproven AS (${DUE} AND has_proven = 0 ${FIRST})
                  UPDATE inbox_flows SET due_at = ?, leased_by = ?, lease = ?, woken = 0
                  WHERE flow_id IN (SELECT flow_id FROM proven UNION ALL SELECT flow_id FROM unproven)`,
            params: [at, proven, at, unproven, at + leaseMs, instance, lease],
          },
          {
            sql: `SELECT inbox.*, deferrals, has_proven FROM inbox_flows ${db.dialect.joinOldestWaiting}
                  WHERE ${OF_LEASE} ORDER BY inbox.seq`,
            params: [perFlow, instance, lease],
          },
        ],
        turnOf.leasing,
      );
      const byFlow = groupByFlow(found?.rows ?? []);
      if (byFlow.size < (leased?.changes ?? 0)) await forgetAllIdle(lease, new Set(byFlow.keys()));
      return [...byFlow].map(([flowId, rows]) => ({
        flowId,
        rows: rows.map(toRow),
        deferrals: integer(rows[0], 'deferrals'),
        hasProven: integer(rows[0], 'has_proven') === 1,
      }));
    },

    async waitingOf(flowId, most) {
      const sql = `SELECT * FROM inbox WHERE flow_id = ? AND state = 'waiting' ORDER BY seq LIMIT ?`;
      const [found] = await db.read([{ sql, params: [flowId, most] }]);
      return (found?.rows ?? []).map(toRow);
    },

    async markDelivered(flowId, ids) {
      if (ids.length === 0) return;
      const at = now();
      await writeOf(flowId, [
        {
          sql: `UPDATE inbox SET state = 'delivered', delivered_at = ?
                WHERE id IN ${IDS} AND state = 'waiting'`,
          params: [at, JSON.stringify(ids)],
        },
        {
          sql: `UPDATE inbox_flows SET due_at = ?, deferrals = 0, has_proven = ${PROVEN_WAITS}, ${NO_LEASE}
                WHERE flow_id = ? AND ${NOT_OTHERS}`,
          params: [at, flowId, instance, at],
        },
        forgetIdle(flowId),
      ]);
    },

    async defer(flowId, delayMs) {
      const at = now();
      await writeOf(flowId, [
        {
          sql: `UPDATE inbox_flows SET due_at = CASE WHEN woken = 1 THEN CAST(? AS BIGINT) ELSE ? END, deferrals = deferrals + 1,
                  ${NO_LEASE}
                WHERE flow_id = ? AND ${NOT_OTHERS}`,
          params: [at, at + delayMs, flowId, instance, at],
        },
        forgetIdle(flowId),
      ]);
    },

    async releaseWaiting(flowId) {
      const at = now();
      await writeOf(flowId, [
        {
          sql: `UPDATE inbox SET state = 'waiting', detail = NULL, settled_at = NULL
                WHERE flow_id = ? AND state = 'unmatched' AND body IS NOT NULL AND (proof IS NOT NULL OR seq IN (
                  SELECT seq FROM inbox WHERE flow_id = ? AND state = 'unmatched' AND body IS NOT NULL AND proof IS NULL
                  ORDER BY seq LIMIT ${MOST_UNPROVEN_RELEASED}))`,
          params: [flowId, flowId],
        },
        {
          sql: `INSERT INTO inbox_flows (flow_id, due_at, has_proven)
                  SELECT flow_id, ?, ${IS_PROVEN} FROM inbox WHERE flow_id = ? AND state = 'waiting'
                  ORDER BY proof IS NULL LIMIT 1
                ON CONFLICT (flow_id) DO UPDATE SET ${DUE_NOW}, ${STILL_PROVEN}`,
          params: [at, flowId, ...dueNow(at)],
        },
      ]);
    },
  };
}

function groupByFlow(rows: readonly Row[]): Map<string, Row[]> {
  const byFlow = new Map<string, Row[]>();
  for (const row of rows) {
    const flowId = text(row, 'flow_id');
    const group = byFlow.get(flowId);
    if (group) group.push(row);
    else byFlow.set(flowId, [row]);
  }
  return byFlow;
}
