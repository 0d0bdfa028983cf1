import type { Request, StepResult } from './sql-message.js';
import { integer, turnOf, type SqlConnection, type Dialect } from './sql-connection.js';
import { StoreRequestError, StoreTooNewError } from './store-errors.js';
export const LIBSQL: Dialect = {
  elements: 'json_each',
  flowOrNone: `ifnull(flow_id, '')`,
  idsAsJson: 'json_group_array(id)',
  // The second one is a retry of a receipt that was committed, though its caller got another answer.
  onRepeatedEvent: `
    ON CONFLICT (source, ifnull(flow_id, ''), came_trusted, content_hash) DO UPDATE SET repeats = repeats + 1
    ON CONFLICT (id) DO UPDATE SET repeats = repeats + 1
      WHERE source = excluded.source AND flow_id IS excluded.flow_id
        AND came_trusted = excluded.came_trusted AND content_hash = excluded.content_hash`,
  joinOldestWaiting: `
    CROSS JOIN inbox ON inbox.seq IN (SELECT seq FROM inbox AS of_flow
      WHERE of_flow.flow_id = inbox_flows.flow_id AND of_flow.state = 'waiting' ORDER BY seq LIMIT ?)`,
  isConflict: (code) => code.startsWith('SQLITE_CONSTRAINT'),
  tidy: () => [],
};

const DAY_MS = 24 * 60 * 60 * 1000;

export const POSTGRES: Dialect = {
  elements: 'json_array_elements_text',
  flowOrNone: `(coalesce(flow_id, ''))`,
  idsAsJson: 'json_agg(id ORDER BY seq)::text',
  // That one is asked for the content first: a retry, which has both, ends here.
  onRepeatedEvent: `
    ON CONFLICT (source, coalesce(flow_id, ''), came_trusted, content_hash) DO UPDATE SET repeats = inbox.repeats + 1`,
  joinOldestWaiting: `
    CROSS JOIN LATERAL (SELECT * FROM inbox AS of_flow
      WHERE of_flow.flow_id = inbox_flows.flow_id AND of_flow.state = 'waiting' ORDER BY seq LIMIT ?) AS inbox`,
  isConflict: (code) => code === '23505',
  tidy: (nowMs) => [{ sql: `DELETE FROM commits WHERE at < ?`, params: [nowMs - DAY_MS] }],
};

/**
 * Brings the schema up to date. Processes that do it at once are fine: each migration commits once, whole.
 *
 * @param migrations number n stands at place n - 1
 */
export async function migrate(db: SqlConnection, migrations: readonly (readonly string[])[]): Promise<void> {
  const write = (request: Request): Promise<readonly StepResult[]> => db.write(request, turnOf.migrations);
  await write([{ sql: `CREATE TABLE IF NOT EXISTS migrations (version INTEGER PRIMARY KEY)`, params: [] }]);
  const [found] = await db.read([{ sql: `SELECT coalesce(max(version), 0) AS version FROM migrations`, params: [] }]);
  const version = integer(found?.rows[0], 'version');
  if (version > migrations.length) throw new StoreTooNewError(version, migrations.length);

  for (const [index, statements] of migrations.entries()) {
    if (index < version) continue;
    const mark = { sql: `INSERT INTO migrations VALUES (?)`, params: [index + 1] };
    try {
      await write([mark, ...statements.map((sql) => ({ sql, params: [] }))]);
    } catch (error) {
      // The mark was there already: another process was faster, and its migration is committed.
      if (!(error instanceof StoreRequestError && db.dialect.isConflict(error.code))) throw error;
    }
  }
}
