/*
 * The tables of `libsql-migrations.ts`, as Postgres says them, and one more. Where a column is added there, it is added
 * here; the number of a migration need not be the same.
 */
const claims = [
  `CREATE TABLE claims (
     seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
     account TEXT NOT NULL,
     operation TEXT NOT NULL,
     reference TEXT NOT NULL,
     phase TEXT NOT NULL CHECK (phase IN ('reserved', 'sending', 'answered', 'rejected', 'void')),
     owner TEXT NOT NULL,
     flow_id TEXT NOT NULL,
     fingerprint TEXT NOT NULL,
     reserved_at BIGINT NOT NULL,
     sending_at BIGINT,
     ended_at BIGINT,
     answer BYTEA,
     rejection BYTEA,
     kept BYTEA,
     reason BYTEA,
     UNIQUE (account, operation, reference)
   )`,
  `CREATE INDEX claims_of_flow ON claims (flow_id, seq)`,
  `CREATE TABLE claim_orders (
     seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
     account TEXT NOT NULL,
     operation TEXT NOT NULL,
     reference TEXT NOT NULL,
     action TEXT NOT NULL,
     actor TEXT NOT NULL,
     note BYTEA NOT NULL,
     at BIGINT NOT NULL
   )`,
  `CREATE INDEX orders_of_claim ON claim_orders (account, operation, reference, seq)`,
  // One for each transaction that must not happen twice, for as long as it may be asked whether it happened.
  `CREATE TABLE commits (id TEXT PRIMARY KEY, at BIGINT NOT NULL)`,
];

const inbox = [
  `CREATE TABLE inbox (
     seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
     id TEXT NOT NULL UNIQUE,
     source TEXT NOT NULL,
     flow_id TEXT,
     reference TEXT,
     status TEXT,
     proof TEXT,
     came_trusted INTEGER NOT NULL,
     content_hash TEXT NOT NULL,
     body BYTEA,
     state TEXT NOT NULL,
     detail BYTEA,
     received_at BIGINT NOT NULL,
     delivered_at BIGINT,
     settled_at BIGINT,
     repeats INTEGER NOT NULL DEFAULT 0
   )`,
  `CREATE UNIQUE INDEX inbox_content ON inbox (source, (coalesce(flow_id, '')), came_trusted, content_hash)`,
  `CREATE INDEX inbox_of_flow ON inbox (flow_id, seq)`,
  `CREATE INDEX inbox_of_state ON inbox (state, seq)`,
  `CREATE INDEX inbox_waiting ON inbox (flow_id, seq) WHERE state = 'waiting'`,
  `CREATE INDEX inbox_unsettled ON inbox (delivered_at, flow_id) WHERE state = 'delivered'`,
  `CREATE INDEX inbox_bodies ON inbox (received_at) WHERE body IS NOT NULL`,
  `CREATE TABLE inbox_flows (
     flow_id TEXT PRIMARY KEY,
     due_at BIGINT NOT NULL,
     leased_by TEXT,
     lease TEXT,
     hastened INTEGER NOT NULL DEFAULT 0,
     deferrals INTEGER NOT NULL DEFAULT 0
   )`,
  `CREATE INDEX inbox_flows_due ON inbox_flows (due_at)`,
  `CREATE TABLE inbox_counts (name TEXT PRIMARY KEY, count BIGINT NOT NULL)`,
  `CREATE FUNCTION inbox_count(counted TEXT, difference BIGINT) RETURNS void LANGUAGE sql AS $$
     INSERT INTO inbox_counts VALUES (counted, difference)
       ON CONFLICT (name) DO UPDATE SET count = inbox_counts.count + excluded.count
   $$`,
  `CREATE FUNCTION inbox_count_new() RETURNS trigger LANGUAGE plpgsql AS $$
   BEGIN
     PERFORM inbox_count(NEW.state, 1);
     RETURN NULL;
   END $$`,
  `CREATE FUNCTION inbox_count_change() RETURNS trigger LANGUAGE plpgsql AS $$
   BEGIN
     IF OLD.state <> NEW.state THEN
       PERFORM inbox_count(OLD.state, -1);
       PERFORM inbox_count(NEW.state, 1);
     END IF;
     IF OLD.repeats <> NEW.repeats THEN
       PERFORM inbox_count('repeats', NEW.repeats - OLD.repeats);
     END IF;
     RETURN NULL;
   END $$`,
  `CREATE TRIGGER inbox_count_new AFTER INSERT ON inbox FOR EACH ROW EXECUTE FUNCTION inbox_count_new()`,
  `CREATE TRIGGER inbox_count_change AFTER UPDATE OF state, repeats ON inbox
     FOR EACH ROW EXECUTE FUNCTION inbox_count_change()`,
];

const meta = [
  `CREATE TABLE meta (name TEXT PRIMARY KEY, value BYTEA, at BIGINT NOT NULL)`,
  `CREATE TABLE deployment (
     one INTEGER PRIMARY KEY CHECK (one = 1),
     id TEXT NOT NULL,
     epoch BIGINT NOT NULL,
     namespace TEXT,
     account TEXT
   )`,
];

const quotes = [
  `CREATE TABLE quotes (
     account TEXT NOT NULL,
     rate_id TEXT NOT NULL,
     quoted_at BIGINT NOT NULL,
     terms BYTEA NOT NULL,
     PRIMARY KEY (account, rate_id)
   )`,
  `CREATE INDEX quotes_by_age ON quotes (quoted_at)`,
];

/** What is waiting is not counted as it comes, and has fewer indexes: its sender waits for an answer. */
const cheaperReceipt = [
  `DROP INDEX inbox_waiting`,
  `DROP INDEX inbox_of_flow`,
  `CREATE INDEX inbox_of_flow ON inbox (flow_id, state, seq)`,
  `DROP INDEX inbox_bodies`,
  `CREATE INDEX inbox_bodies ON inbox (received_at) WHERE body IS NOT NULL AND state NOT IN ('waiting', 'delivered')`,
  `CREATE OR REPLACE FUNCTION inbox_count(counted TEXT, difference BIGINT) RETURNS void LANGUAGE sql AS $$
     INSERT INTO inbox_counts SELECT counted, difference WHERE counted <> 'waiting'
       ON CONFLICT (name) DO UPDATE SET count = inbox_counts.count + excluded.count
   $$`,
  `DELETE FROM inbox_counts WHERE name = 'waiting'`,
];

/** Number n stands at place n - 1. Released ones never change: append. */
export const POSTGRES_MIGRATIONS: readonly (readonly string[])[] = [
  [...claims, ...inbox, ...meta],
  quotes,
  cheaperReceipt,
];
