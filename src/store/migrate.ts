import { integer } from './column.js';
import { turnOf, type SqlConnection } from './sql-connection.js';
import type { Request, StepResult } from './sql-message.js';
import { StoreRequestError, StoreTooNewError } from './store-errors.js';

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
