import { Client } from 'pg';
import { CLAIMS, INBOX, ORDERS, type StoredRow } from './stored-rows.js';
import type { Witnesses } from './witnesses.js';

/** The tables in a Postgres. */
export async function readStoreDatabase(url: string) {
  const db = new Client({ connectionString: url });
  await db.connect();
  const rows = async <T extends object>(sql: string) => (await db.query<T>(sql)).rows;
  try {
    return {
      claims: await rows<Witnesses['claims'][number]>(CLAIMS),
      orders: await rows<Witnesses['orders'][number]>(ORDERS),
      inbox: await rows<StoredRow>(INBOX),
    };
  } finally {
    await db.end();
  }
}
