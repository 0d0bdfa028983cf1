import Libsql from 'libsql';
import { CLAIMS, INBOX, ORDERS, type StoredRow } from './stored-rows.js';
import type { Witnesses } from './witnesses.js';

/** The tables on disk. */
export function readStoreFile(path: string) {
  const db = new Libsql(path, { readonly: true });
  const rows = <T>(sql: string) => (db.prepare(sql).all() as T[]).map((row) => ({ ...row }));
  try {
    return {
      claims: rows<Witnesses['claims'][number]>(CLAIMS),
      orders: rows<Witnesses['orders'][number]>(ORDERS),
      inbox: rows<StoredRow>(INBOX),
    };
  } finally {
    db.close();
  }
}
