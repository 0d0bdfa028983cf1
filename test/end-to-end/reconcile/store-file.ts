import Libsql from 'libsql';
import type { ClaimFact, InboxFact, Witnesses } from './witnesses.js';

/** Claims and inbox as they lie on disk: columns in the clear only, by SQL of its own. */
export function readStoreFile(path: string): Pick<Witnesses, 'claims' | 'orders' | 'inbox'> {
  const db = new Libsql(path, { readonly: true });
  const rows = <T>(sql: string) => (db.prepare(sql).all() as T[]).map((row) => ({ ...row }));
  try {
    return {
      claims: rows<ClaimFact>('SELECT operation, reference, phase, flow_id AS flowId FROM claims'),
      orders: rows<Witnesses['orders'][number]>('SELECT operation, reference, action FROM claim_orders'),
      inbox: rows<InboxFact>(
        'SELECT flow_id AS flowId, status, state, content_hash AS contentHash, repeats FROM inbox',
      ),
    };
  } finally {
    db.close();
  }
}
