import { Pool, types } from 'pg';
import type { Step } from '../sql-message.js';

const INT8 = 20;

/** A server that does not answer for this long counts as lost. It ends waits for a lock by itself before that. */
const QUERY_TIMEOUT_MS = 15_000;

/** @param url `postgres://…`, which carries a password: it is used only here */
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
  // If a busy connection ends, its queries fail.
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}

/** Our 64-bit columns are milliseconds and counts: both are exact as numbers. */
function getTypeParser(oid: number, format?: 'text' | 'binary') {
  return oid === INT8 ? Number : types.getTypeParser(oid, format ?? 'text');
}

const texts = new Map<string, string>();

/** `?` becomes `$1`, `$2`, …; no SQL text of ours has a `?` that is not a parameter. */
export function queryOf({ sql, params }: Step): { text: string; values: unknown[] } {
  let text = texts.get(sql);
  if (text === undefined) {
    let n = 0;
    text = sql.replaceAll('?', () => `$${(n += 1)}`);
    texts.set(sql, text);
  }
  return { text, values: params.map(storable) };
}

/** Postgres has no NUL in texts; one that comes from outside is replaced by the sign for an invalid character. */
function storable(value: Step['params'][number]): unknown {
  return typeof value === 'string' ? value.replaceAll('\0', '\uFFFD') : value;
}
