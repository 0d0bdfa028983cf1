import { randomUUID } from 'node:crypto';
import { integer, text, turnOf, type SqlConnection } from './sql-connection.js';
import type { Row } from './sql-message.js';

/** Of a store that was never restored. */
export const FIRST_EPOCH = 1;

/** Which deployment a store is of: one namespace, one store, one account at the service. */
interface Deployment {
  /** Of the store: made with it, and the same in every copy. */
  readonly id: string;
  /**
   * Raised after the store was restored from a backup. For a flow that was prepared in an earlier epoch, a missing
   * claim may have existed, and been sent: it is unknown, not free.
   */
  readonly epoch: number;
  /** Undefined until the first gateway or worker started on it. */
  readonly boundTo: { readonly namespace: string; readonly account: string } | undefined;
}

export interface DeploymentStore {
  read(): Promise<Deployment>;

  /** Binds it, once and permanently: the first one wins. Returns what it is bound to. */
  bind(to: { readonly namespace: string; readonly account: string }): Promise<Deployment>;

  /**
   * After a restore: starts a new epoch, also above `atLeast`, and moves every claim that is only `reserved` to
   * `sending`, because it may have been sent after the backup. Returns the new epoch.
   */
  raiseEpoch(atLeast: number): Promise<number>;

  /** From now on the service signs its webhooks: it was given a secret. */
  noteSigned(): Promise<void>;
  isSigned(): Promise<boolean>;
}

const SELECT = { sql: `SELECT * FROM deployment`, params: [] };

/** Makes the store's id at its first open. */
export async function createDeploymentStore(db: SqlConnection, now: () => number): Promise<DeploymentStore> {
  const make = `INSERT INTO deployment (one, id, epoch) VALUES (1, ?, 1) ON CONFLICT DO NOTHING`;
  await db.write([{ sql: make, params: [randomUUID()] }], turnOf.meta);
  return {
    async read() {
      const [found] = await db.read([SELECT]);
      return deploymentOf(found?.rows[0]);
    },
    async bind({ namespace, account }) {
      const bind = `UPDATE deployment SET namespace = ?, account = ? WHERE namespace IS NULL`;
      const [, found] = await db.write([{ sql: bind, params: [namespace, account] }, SELECT], turnOf.meta);
      return deploymentOf(found?.rows[0]);
    },
    async raiseEpoch(atLeast) {
      const raise = `UPDATE deployment SET epoch = CASE WHEN epoch > ? THEN epoch ELSE ? END + 1`;
      const doubt = `UPDATE claims SET phase = 'sending', sending_at = ? WHERE phase = 'reserved'`;
      const [, , found] = await db.write(
        [{ sql: raise, params: [atLeast, atLeast] }, { sql: doubt, params: [now()] }, SELECT],
        turnOf.epoch,
      );
      return deploymentOf(found?.rows[0]).epoch;
    },
    async noteSigned() {
      const note = `INSERT INTO meta (name, at) VALUES (?, ?) ON CONFLICT DO NOTHING`;
      await db.write([{ sql: note, params: [SIGNED, now()] }], turnOf.meta);
    },
    async isSigned() {
      const [found] = await db.read([{ sql: `SELECT name FROM meta WHERE name = ?`, params: [SIGNED] }]);
      return found?.rows.length === 1;
    },
  };
}

/** In the table of what the store knows about itself. */
const SIGNED = 'webhooks-signed';

function deploymentOf(row: Row | undefined): Deployment {
  const isBound = row?.['namespace'] != null;
  return {
    id: text(row, 'id'),
    epoch: integer(row, 'epoch'),
    boundTo: isBound ? { namespace: text(row, 'namespace'), account: text(row, 'account') } : undefined,
  };
}
