/** Amounts are decimal strings, times milliseconds since 1970 by the sandbox's clock, structures JSON. */
export const SCHEMA = `
CREATE TABLE IF NOT EXISTS notes (name TEXT PRIMARY KEY, value TEXT NOT NULL);

CREATE TABLE IF NOT EXISTS executions (
  id INTEGER PRIMARY KEY AUTOINCREMENT, operation TEXT NOT NULL, reference TEXT NOT NULL, amount TEXT NOT NULL,
  currency TEXT NOT NULL, at INTEGER NOT NULL, digest TEXT NOT NULL, answer TEXT);
CREATE INDEX IF NOT EXISTS executions_by_reference ON executions (reference, operation);

CREATE TABLE IF NOT EXISTS entries (
  id INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, kind TEXT NOT NULL, reference TEXT NOT NULL,
  execution_id INTEGER, postings TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS entries_by_reference ON entries (reference);

CREATE TABLE IF NOT EXISTS quotes (
  rate_id TEXT PRIMARY KEY, quote TEXT NOT NULL, expires_at INTEGER NOT NULL, used_by TEXT);

CREATE TABLE IF NOT EXISTS deposits (
  id TEXT PRIMARY KEY, reference TEXT NOT NULL, status TEXT NOT NULL, ending TEXT NOT NULL,
  request TEXT NOT NULL, crypto TEXT NOT NULL, refund_config TEXT NOT NULL, fallback_address TEXT NOT NULL,
  fee TEXT NOT NULL, paid_out INTEGER NOT NULL, money TEXT NOT NULL, execution_id INTEGER NOT NULL,
  created_at INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS deposits_by_reference ON deposits (reference);
CREATE INDEX IF NOT EXISTS deposits_by_fallback_address ON deposits (fallback_address);

CREATE TABLE IF NOT EXISTS transactions (
  number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, operation TEXT NOT NULL, reference TEXT NOT NULL,
  status TEXT NOT NULL, ending TEXT NOT NULL, body TEXT NOT NULL, figures TEXT NOT NULL, execution_id INTEGER NOT NULL,
  created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS transactions_by_reference ON transactions (reference, operation);

CREATE TABLE IF NOT EXISTS tokens (digest TEXT PRIMARY KEY, kind TEXT NOT NULL, expires_at INTEGER);

CREATE TABLE IF NOT EXISTS history (
  id INTEGER PRIMARY KEY AUTOINCREMENT, record_id TEXT NOT NULL, status TEXT NOT NULL, at INTEGER NOT NULL,
  by TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS history_by_record ON history (record_id);

CREATE TABLE IF NOT EXISTS scenarios (reference TEXT PRIMARY KEY, scenario TEXT NOT NULL);

CREATE TABLE IF NOT EXISTS jobs (
  id INTEGER PRIMARY KEY AUTOINCREMENT, lane TEXT NOT NULL, due_at INTEGER NOT NULL, kind TEXT NOT NULL,
  payload TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS jobs_by_time ON jobs (lane, due_at, id);

CREATE TABLE IF NOT EXISTS deliveries (
  id INTEGER PRIMARY KEY AUTOINCREMENT, stream TEXT NOT NULL, note TEXT NOT NULL, reference TEXT NOT NULL,
  status TEXT NOT NULL, url TEXT NOT NULL, webhook_id TEXT NOT NULL, body TEXT NOT NULL, signed_body TEXT,
  state TEXT NOT NULL, tries INTEGER NOT NULL, max_tries INTEGER, created_at INTEGER NOT NULL,
  event TEXT NOT NULL DEFAULT '', manner TEXT NOT NULL DEFAULT 'plain');
CREATE INDEX IF NOT EXISTS deliveries_by_reference ON deliveries (reference);
CREATE TABLE IF NOT EXISTS attempts (
  delivery_id INTEGER NOT NULL, try INTEGER NOT NULL, at INTEGER NOT NULL, status INTEGER, answer TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS attempts_by_delivery ON attempts (delivery_id);

CREATE TABLE IF NOT EXISTS fault_rules (id INTEGER PRIMARY KEY AUTOINCREMENT, rule TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS fault_log (
  id INTEGER PRIMARY KEY AUTOINCREMENT, rule_id INTEGER NOT NULL, at INTEGER NOT NULL, operation TEXT NOT NULL,
  reference TEXT NOT NULL, kind TEXT NOT NULL, committed INTEGER NOT NULL, detail TEXT NOT NULL);
`;

export const TABLES = [...SCHEMA.matchAll(/CREATE TABLE IF NOT EXISTS (\w+)/g)].map((match) => match[1] as string);
