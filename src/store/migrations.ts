import type { Migrations } from './schema.js';

/*
 * Times are milliseconds since 1970 by the store's clock. BYTEA is sealed (see `store-key.ts`); everything else is
 * stored unencrypted, so no column may hold what a person wrote or what identifies a person, except references.
 *
 * The types are those of Postgres; `LIBSQL.ddl` replaces them. What differs in more than its types is written for both.
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
     -- POSTs that the service answered, in its own words, as not executed
     turned_away BIGINT NOT NULL DEFAULT 0,
     answer BYTEA,
     rejection BYTEA,
     kept BYTEA,
     reason BYTEA,
     UNIQUE (account, operation, reference)
   )`,
  `CREATE INDEX claims_of_flow ON claims (flow_id, seq)`,
  `CREATE INDEX claims_in_sending ON claims (sending_at) WHERE phase = 'sending'`,
  `CREATE INDEX claims_with_answer ON claims (ended_at)
     WHERE (answer IS NOT NULL OR rejection IS NOT NULL OR kept IS NOT NULL)`,
  `CREATE TABLE claim_orders (
     seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
     account TEXT NOT NULL,
     operation TEXT NOT NULL,
     reference TEXT NOT NULL,
     action TEXT NOT NULL,
     actor TEXT NOT NULL,
     note BYTEA NOT NULL,
     -- of a person's order to send again: it is carried out once, also if Temporal applies it again after a reset
     order_id TEXT,
     at BIGINT NOT NULL
   )`,
  `CREATE INDEX orders_of_claim ON claim_orders (account, operation, reference, seq)`,
  `CREATE UNIQUE INDEX orders_once ON claim_orders (account, operation, reference, order_id)
     WHERE order_id IS NOT NULL`,
  // One row for each transaction that must not happen twice, kept as long as its outcome may be read back. Empty in
  // libsql: who writes the file itself loses no answer to a commit on the way.
  `CREATE TABLE commits (id TEXT PRIMARY KEY, at BIGINT NOT NULL)`,
];

/** Entries are never changed; only replacing a payload key may seal the details again, or erase them. */
const ALL_BUT_DETAILS =
  'seq, chain, number, at, kind, flow_id, subject, action, actor, role, means, details_hash, previous, hash, mac';
const audit = [
  `CREATE TABLE audit (
     seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
     chain BIGINT NOT NULL,
     number BIGINT NOT NULL,
     at BIGINT NOT NULL,
     kind TEXT NOT NULL,
     flow_id TEXT,
     subject TEXT,
     action TEXT,
     actor TEXT NOT NULL,
     role TEXT,
     means TEXT NOT NULL,
     details BYTEA,
     details_hash TEXT NOT NULL,
     previous TEXT NOT NULL,
     hash TEXT NOT NULL,
     mac TEXT NOT NULL,
     UNIQUE (chain, number)
   )`,
  `CREATE INDEX audit_of_flow ON audit (flow_id, seq)`,
  `CREATE INDEX audit_of_actor ON audit (actor, seq)`,
  `CREATE INDEX audit_of_kind ON audit (kind, seq)`,
  `CREATE INDEX audit_of_actor_and_kind ON audit (actor, kind, seq)`,
  // Read before each start and each second person's order, however many orders the flow has.
  `CREATE INDEX audit_starts ON audit (flow_id, seq)
     WHERE kind = 'start' OR kind = 'give' OR (kind = 'refused' AND action = 'start')`,
  `CREATE INDEX audit_gifts ON audit (subject, seq) WHERE kind = 'give'`,
  {
    postgres: [
      `CREATE FUNCTION audit_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
       BEGIN
         RAISE EXCEPTION 'the audit log is append-only';
       END $$`,
      `CREATE TRIGGER audit_no_change BEFORE UPDATE OF ${ALL_BUT_DETAILS} ON audit
       FOR EACH ROW EXECUTE FUNCTION audit_refuse()`,
      `CREATE TRIGGER audit_no_delete BEFORE DELETE ON audit FOR EACH ROW EXECUTE FUNCTION audit_refuse()`,
      `CREATE TRIGGER audit_no_truncate BEFORE TRUNCATE ON audit FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse()`,
    ],
    libsql: [
      `CREATE TRIGGER audit_no_change BEFORE UPDATE OF ${ALL_BUT_DETAILS} ON audit
       BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END`,
      `CREATE TRIGGER audit_no_delete BEFORE DELETE ON audit
       BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END`,
    ],
  },
];

/** Each payment over Lightning with the POST, or the refund, that it is for. Kept for ever, as claims are. */
const debts = [
  `CREATE TABLE payment_hashes (
     payment_hash TEXT PRIMARY KEY,
     account TEXT NOT NULL,
     operation TEXT NOT NULL,
     reference TEXT NOT NULL,
     taken_at BIGINT NOT NULL,
     payable_until BIGINT
   )`,
  `CREATE INDEX payment_hashes_of_debt ON payment_hashes (account, operation, reference)`,
];

const proposals = [
  `CREATE TABLE proposals (
     flow_id TEXT NOT NULL,
     topic TEXT NOT NULL,
     id TEXT NOT NULL,
     subject TEXT NOT NULL,
     action TEXT NOT NULL,
     choice TEXT NOT NULL,
     proposed_by TEXT NOT NULL,
     note BYTEA NOT NULL,
     proposed_at BIGINT NOT NULL,
     expires_at BIGINT NOT NULL,
     confirmed_by TEXT,
     confirmed_at BIGINT,
     PRIMARY KEY (flow_id, topic)
   )`,
  `CREATE INDEX proposals_open ON proposals (expires_at)`,
];

const inbox = [
  // Two events are the same if content, source, the flow of the address that received them (or none), and being proven
  // or not are the same. A later match with a flow, or a person's proof, changes none of that.
  `CREATE TABLE inbox (
     seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
     id TEXT NOT NULL UNIQUE,
     source TEXT NOT NULL,
     flow_id TEXT,
     reference TEXT,
     status TEXT,
     proof TEXT,
     came_to TEXT NOT NULL,
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
  `CREATE UNIQUE INDEX inbox_content ON inbox (source, came_to, came_trusted, content_hash)`,
  `CREATE INDEX inbox_of_flow ON inbox (flow_id, state, seq)`,
  `CREATE INDEX inbox_of_state ON inbox (state, seq)`,
  `CREATE INDEX inbox_unsettled ON inbox (delivered_at, flow_id) WHERE state = 'delivered'`,
  `CREATE INDEX inbox_bodies ON inbox (received_at) WHERE body IS NOT NULL AND state NOT IN ('waiting', 'delivered')`,
  // The second one is read before each send of money.
  {
    postgres: [
      `CREATE INDEX inbox_to_match ON inbox (came_trusted, seq) WHERE flow_id IS NULL AND state = 'waiting'`,
      `CREATE INDEX inbox_to_match_by_reference ON inbox (reference) WHERE flow_id IS NULL AND state = 'waiting'`,
      `CREATE INDEX inbox_of_no_flow_by_reference ON inbox (reference)
         WHERE flow_id IS NULL AND state IN ('unmatched', 'quarantined')`,
    ],
    // They repeat the columns of their condition, or else SQLite would prefer `inbox_of_flow`.
    libsql: [
      `CREATE INDEX inbox_to_match ON inbox (flow_id, state, came_trusted, seq)
         WHERE flow_id IS NULL AND state = 'waiting'`,
      `CREATE INDEX inbox_to_match_by_reference ON inbox (flow_id, state, reference)
         WHERE flow_id IS NULL AND state = 'waiting'`,
      `CREATE INDEX inbox_of_no_flow_by_reference ON inbox (flow_id, state, reference)
         WHERE flow_id IS NULL AND state IN ('unmatched', 'quarantined')`,
    ],
  },
  // A flow with waiting rows. A lease is a due time in the future with its holder's name on it.
  `CREATE TABLE inbox_flows (
     flow_id TEXT PRIMARY KEY,
     due_at BIGINT NOT NULL,
     -- 1: some of what waits is proven, or was
     has_proven INTEGER NOT NULL DEFAULT 0,
     leased_by TEXT,
     lease TEXT,
     woken INTEGER NOT NULL DEFAULT 0,
     deferrals INTEGER NOT NULL DEFAULT 0
   )`,
  `CREATE INDEX inbox_flows_due ON inbox_flows (has_proven, due_at)`,
  // Events without proof are measured and deleted separately; never while they are waiting.
  `CREATE INDEX inbox_unproven ON inbox (received_at) WHERE proof IS NULL`,
];

const meta = [
  // Work that one process at a time does for all of them.
  `CREATE TABLE duties (name TEXT PRIMARY KEY, holder TEXT NOT NULL, ends_at BIGINT NOT NULL, result TEXT)`,
  `CREATE TABLE meta (name TEXT PRIMARY KEY, value BYTEA, at BIGINT NOT NULL)`,
  // One row: what this store belongs to.
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

// Matters for people. `resolved_at` 0: not yet; `due_at` NULL: nothing is left to send. `flow_id`: of a contradiction,
// which a person acknowledges.
const matters = [
  `CREATE TABLE matters (
     id TEXT PRIMARY KEY,
     opened_at BIGINT NOT NULL,
     resolved_at BIGINT NOT NULL DEFAULT 0,
     due_at BIGINT,
     sent TEXT NOT NULL,
     flow_id TEXT,
     acknowledged_by TEXT,
     content BYTEA
   )`,
  `CREATE INDEX matters_due ON matters (due_at) WHERE due_at IS NOT NULL`,
  `CREATE INDEX matters_contradicted ON matters (flow_id) WHERE flow_id IS NOT NULL`,
];

export const MIGRATIONS: Migrations = [
  { usableFrom: 1, steps: [...claims, ...debts, ...proposals, ...audit, ...inbox, ...meta, ...quotes, ...matters] },
];
