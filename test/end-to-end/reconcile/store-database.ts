import { Client } from 'pg';
import type { ClaimFact, InboxFact, Witnesses } from './witnesses.js';

/** Claims and inbox as they lie in a Postgres: columns in the clear only, by SQL of its own. */
export async function readStoreDatabase(url: string): Promise<Pick<Witnesses, 'claims' | 'orders' | 'inbox'>> {
  const db = new Client({ connectionString: url });
  await db.connect();
  const rows = async <T extends object>(sql: string) => (await db.query<T>(sql)).rows;
  try {
    return {
      claims: await rows<ClaimFact>('SELECT operation, reference, phase, flow_id AS "flowId" FROM claims'),
      orders: await rows<Witnesses['orders'][number]>('SELECT operation, reference, action FROM claim_orders'),
      inbox: await rows<InboxFact>(
        'SELECT flow_id AS "flowId", status, state, content_hash AS "contentHash", repeats FROM inbox',
      ),
    };
  } finally {
    await db.end();
  }
}
