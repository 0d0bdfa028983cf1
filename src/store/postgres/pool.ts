import { Pool, types } from 'pg';
import type { Step } from '../sql-message.js';

const INT8 = 20;

/** A server that does not answer for so long is taken for lost. It lets waiting for a lock end by itself before. */
const QUERY_TIMEOUT_MS = 15_000;

/** @param url `postgres://…`, which carries a password: it goes nowhere but here */
export function createPool(url: string, connections: number): Pool {
  const pool = new Pool({
    connectionString: url,
    max: connections,
    connectionTimeoutMillis: 5_000,
    idleTimeoutMillis: 60_000,
    query_timeout: QUERY_TIMEOUT_MS,
    keepAlive: true,
    allowExitOnIdle: true,
    fallback_application_name: 'towline',
    // The statements of a transaction go out at once, and not each after the answer to the one before.
    pipeline: true,
    types: { getTypeParser },
  });
  // An idle connection that ends is replaced by the pool.
  pool.on('error', () => {});
  // A busy one that ends fails what was asked.
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}

/** Our 64-bit columns are milliseconds and counts: both are exact as numbers. */
function getTypeParser(oid: number, format?: 'text' | 'binary') {
  return oid === INT8 ? Number : types.getTypeParser(oid, format ?? 'text');
}

const texts = new Map<string, string>();

/** `?` as `$1`, `$2`, …; no text of ours has a `?` that is none. */
export function queryOf({ sql, params }: Step): { text: string; values: unknown[] } {
  let text = texts.get(sql);
  if (text === undefined) {
    let n = 0;
    text = sql.replaceAll('?', () => `$${(n += 1)}`);
    texts.set(sql, text);
  }
  return { text, values: params.map(storable) };
}

/** Postgres has no NUL in texts; where one comes in from outside, it is shown as what it is: not a character. */
function storable(value: Step['params'][number]): unknown {
  return typeof value === 'string' ? value.replaceAll('\0', '\uFFFD') : value;
}
