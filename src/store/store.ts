import { randomUUID } from 'node:crypto';
import type { Keyring } from '../keys/index.js';
import type { AuditStore } from './audit.js';
import type { ClaimStore } from './claim.js';
import { type DeploymentStore, createDeploymentStore } from './deployment.js';
import { createSqlDebts, type DebtStore } from './debts.js';
import { createSqlDuties, type DutyStore } from './duties.js';
import { createFigures, type StoreFigures } from './figures.js';
import type { InboxStore } from './inbox.js';
import { createErasure, type Erased } from './erasure.js';
import { createSqlMatters, type MatterStore } from './matters.js';
import { createSqlProposals, type ProposalStore, withNotices } from './proposal.js';
import { createSqlProvenNetworks, type ProvenNetworks } from './proven-networks.js';
import { type QuoteStore, createSqlQuotes } from './quote.js';
import { createSealedJson, loadOrMakeStoreKey, type StoreKey } from './store-key.js';
import { createStoreKeys, type StoreKeys } from './sealed-rows.js';
import { createSqlAudit } from './sql-audit.js';
import { createSqlClaims } from './sql-claims.js';
import { turnOf, type SqlConnection } from './sql-connection.js';
import { createSqlInbox } from './sql-inbox.js';

/** Claims, inbox and remembered quotes, durable. Embedded (libsql) or shared (Postgres); both behave the same. */
export interface Store extends Pick<StoreKey, 'mac' | 'macs' | 'macsInEpoch'> {
  readonly claims: ClaimStore;
  readonly debts: DebtStore;
  readonly inbox: InboxStore;
  readonly quotes: QuoteStore;
  readonly deployment: DeploymentStore;
  readonly duties: DutyStore;
  readonly audit: AuditStore;
  readonly proposals: ProposalStore;
  readonly matters: MatterStore;
  readonly networks: ProvenNetworks;

  /**
   * Erases what persons and the service said about one flow, which must have ended: bodies of its events, answers, notes,
   * details of the audit log. What says that it was sent stays.
   */
  erase(flowId: string): Promise<Erased>;

  /** For metrics. @throws StoreUnavailableError */
  figures(): Promise<StoreFigures>;

  /** For `towline keys`. */
  readonly keys: StoreKeys;
  /** Before something is refused for its MAC: true if another process rotated the store's keys, and it may be good. */
  refreshKeys(): Promise<boolean>;

  /** Resolves while the store can write durably, else throws StoreUnavailableError. */
  check(): Promise<void>;
  /** Rejects with StoreUnavailableError once this process can never use the store again and has to end. */
  readonly lost: Promise<never>;
  close(): Promise<void>;
}

/**
 * On a connection whose schema is up to date, which the store then owns.
 *
 * @param forClaims the connection reserved for claims, owned as well. @default the same
 */
export async function createStore(
  db: SqlConnection,
  keyring: Keyring,
  now: () => number,
  forClaims = db,
): Promise<Store> {
  const storeKey = await loadOrMakeStoreKey(db, keyring, now);
  const sealed = createSealedJson(keyring);
  const matters = createSqlMatters({ db, sealed, now });
  return {
    claims: createSqlClaims({ db: forClaims, sealed, now, refreshKeys: () => storeKey.refresh() }),
    debts: createSqlDebts({ db: forClaims, now }),
    inbox: createSqlInbox({ db, sealed, now }),
    quotes: createSqlQuotes({ db, sealed, now }),
    duties: createSqlDuties({ db, now }),
    matters,
    networks: createSqlProvenNetworks({ db, now }),
    proposals: withNotices(createSqlProposals({ db, sealed, now }), matters),
    audit: createSqlAudit({ db, sealed, storeKey, now }),
    deployment: await createDeploymentStore(db, now),
    erase: createErasure({ db, sealed }),
    figures: createFigures(db, now),
    keys: createStoreKeys({ db, keyring, storeKey }),
    mac: (purpose, text) => storeKey.mac(purpose, text),
    macs: (purpose, text) => storeKey.macs(purpose, text),
    macsInEpoch: (epoch, purpose, text) => storeKey.macsInEpoch(epoch, purpose, text),
    refreshKeys: () => storeKey.refresh(),
    async check() {
      // A row of its own, gone with the same commit: a process that hangs in a check must not make others unready.
      const name = `check/${randomUUID()}`;
      const insert = { sql: `INSERT INTO meta (name, at) VALUES (?, ?)`, params: [name, now()] };
      await db.write([insert, { sql: `DELETE FROM meta WHERE name = ?`, params: [name] }], turnOf.checking);
    },
    lost: db.lost ?? new Promise<never>(() => undefined),
    async close() {
      await Promise.all([db.close(), forClaims.close()]);
    },
  };
}
