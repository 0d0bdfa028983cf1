import { openConnection } from '../../src/store/libsql/connection.js';
import { createPostgresConnection } from '../../src/store/postgres/connection.js';
import { type SqlConnection, text } from '../../src/store/sql-connection.js';
import type { Step } from '../../src/store/sql-message.js';
import type { StoreKind } from './store-kinds.js';

/**
 * What each statement costs that this work reads with: the number of rows that it reads, as Postgres counts them. SQLite
 * only says how it finds them, deletions included: 1 is by nothing but an index.
 *
 * @param place as in `TemporaryStore`
 * @param lookedUp the columns that are looked up in the index, in SQLite's words, such as `actor=? AND seq>?`
 */
export async function readCosts(
  kind: StoreKind,
  place: string,
  lookedUp: RegExp,
  work: (db: SqlConnection) => Promise<void>,
): Promise<readonly (number | string)[]> {
  const db = await (kind === 'postgres' ? createPostgresConnection({ url: place }) : openConnection({ path: place }));
  try {
    const asked: Step[] = [];
    const read: SqlConnection['read'] = (steps) => {
      asked.push(...steps);
      return db.read(steps);
    };
    const write: SqlConnection['write'] = (steps, turn) => {
      // As a read, which finds its rows in the same way: the plan of a write cannot be read in a transaction of reads.
      const deletions = steps.filter(({ sql }) => sql.startsWith('DELETE'));
      if (kind !== 'postgres')
        asked.push(...deletions.map((step) => ({ ...step, sql: step.sql.replace('DELETE', 'SELECT 1') })));
      return db.write(steps, turn);
    };
    await work({ ...db, read, write });
    const costOf = kind === 'postgres' ? rowsRead : (step: Step) => byIndex(step, lookedUp);
    return await Promise.all(asked.map(costOf));
  } finally {
    await db.close();
  }

  async function rowsRead({ sql, params }: Step): Promise<number | string> {
    const [plan] = await db.read([{ sql: `EXPLAIN (ANALYZE, FORMAT JSON) ${sql}`, params }]);
    const said = JSON.stringify(plan?.rows);
    const rows = [
      ...said.matchAll(/"Node Type":"(?!Bitmap Index)[\w -]*Scan".*?"Actual Rows":([\d.]+),"Actual Loops":(\d+)/g),
    ];
    const [, inVain = 0] = /"Rows Removed by Filter":(\d+)/.exec(said) ?? [];
    if (rows.length === 0) return said;
    return rows.reduce((sum, [, each, loops]) => sum + Number(each) * Number(loops), Number(inVain));
  }

  async function byIndex({ sql, params }: Step, columns: RegExp): Promise<number | string> {
    const [plan] = await db.read([{ sql: `EXPLAIN QUERY PLAN ${sql}`, params }]);
    const steps = (plan?.rows ?? []).map((step) => text(step, 'detail')).join('; ');
    // A list of ids that was given, and what was found without its repetitions.
    const found = steps.replace(
      /; (?:LIST SUBQUERY \d+; SCAN json_each VIRTUAL TABLE INDEX 1:|USE TEMP B-TREE FOR DISTINCT)$/,
      '',
    );
    const search = /^SEARCH \w+ USING (?:COVERING )?INDEX \w+(?: \(([^()]*)\))?$/.exec(found);
    return search !== null && columns.test(search[1] ?? '') ? 1 : found;
  }
}
