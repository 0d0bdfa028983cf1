import type { MatchingInbox } from './inbox.js';
import { text, turnOf, type SqlConnection } from './sql-connection.js';
import type { Row, Step } from './sql-message.js';
import type { InboxRow } from '../protocol/events.js';

export function createMatchingInbox(deps: {
  readonly db: SqlConnection;
  readonly now: () => number;
  readonly toRow: (row: Row) => InboxRow;
  readonly wake: (id: string, atMs: number) => Step;
}): MatchingInbox {
  const { db, now, toRow, wake } = deps;
  return {
    async toMatch({ proven, most, after }) {
      const behind = after === undefined ? '' : 'AND seq > (SELECT seq FROM inbox WHERE id = ?)';
      const sql = `SELECT * FROM inbox WHERE flow_id IS NULL AND state = 'waiting' AND came_trusted = ? ${behind}
                   ORDER BY seq LIMIT ?`;
      const params = [proven ? 1 : 0, ...(after === undefined ? [] : [after]), most];
      const [found] = await db.read([{ sql, params }]);
      return (found?.rows ?? []).map(toRow);
    },

    async hasToMatch(reference) {
      const sql = `SELECT 1 FROM inbox
                   WHERE flow_id IS NULL AND state = 'waiting' AND reference = ? AND proof IS NOT NULL LIMIT 1`;
      const [found] = await db.read([{ sql, params: [reference] }]);
      return (found?.rows.length ?? 0) > 0;
    },

    async wordsOfNoFlow(reference) {
      const sql = `SELECT DISTINCT status FROM inbox
                   WHERE flow_id IS NULL AND state IN ('unmatched', 'quarantined') AND reference = ?
                     AND proof IS NOT NULL AND status IS NOT NULL`;
      const [found] = await db.read([{ sql, params: [reference] }]);
      return (found?.rows ?? []).map((row) => text(row, 'status'));
    },

    async match(id, { flowId, reference, status }) {
      await db.write(
        [
          {
            sql: `UPDATE inbox SET flow_id = ?, reference = ?, status = ?, state = ?
                  WHERE id = ? AND flow_id IS NULL AND state = 'waiting'`,
            params: [flowId, reference, status, flowId === null ? 'unmatched' : 'waiting', id],
          },
          wake(id, now()),
        ],
        turnOf.inbox(flowId ?? id),
      );
    },
  };
}
