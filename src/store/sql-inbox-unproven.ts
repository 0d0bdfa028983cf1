import { ROW_BYTES, type UnprovenInbox } from './inbox.js';
import { integer, text, turnOf, type SqlConnection } from './sql-connection.js';

/** Anyone may post events without proof: they have their own share of the disk, and a short life. */
export function createUnprovenInbox(db: SqlConnection): UnprovenInbox {
  return {
    async unprovenBytes() {
      const sql = `SELECT CAST(coalesce(sum(coalesce(length(body), 0) + ${ROW_BYTES}), 0) AS BIGINT) AS bytes
                   FROM inbox WHERE proof IS NULL`;
      const [found] = await db.read([{ sql, params: [] }]);
      return integer(found?.rows[0], 'bytes');
    },

    async dropUnproven({ before, atMost, ofNoFlow }) {
      // Not a column: SQLite would use the index of all states, and read proven events, too, while claims wait.
      const states = ofNoFlow ? `coalesce(state, '') = 'unmatched'` : `state NOT IN ('waiting', 'delivered')`;
      const [found] = await db.read([
        {
          sql: `SELECT id FROM inbox WHERE proof IS NULL AND received_at < ? AND ${states}
                ORDER BY received_at LIMIT ?`,
          params: [before.getTime(), atMost],
        },
      ]);
      const ids = (found?.rows ?? []).map((row) => text(row, 'id'));
      if (ids.length === 0) return 0;
      const [dropped] = await db.write(
        [
          {
            // Again by its state and proof: a person may have vouched for it, or its flow may have started.
            sql: `DELETE FROM inbox WHERE id IN (SELECT value FROM ${db.dialect.elements}(?))
                    AND proof IS NULL AND ${states}`,
            params: [JSON.stringify(ids)],
          },
        ],
        turnOf.purging,
      );
      return dropped?.changes ?? 0;
    },
  };
}
