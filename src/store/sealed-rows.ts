import { keyIdOf, LONGEST_HEAD, open, seal, SealBrokenError, UnknownKeyError, type Keyring } from '../keys/index.js';
import { matterPlace } from './matters.js';
import { PROPOSAL_SAYS, proposalPlace } from './proposal.js';
import { quotePlace } from './quote.js';
import { placeOf as claimPlace, type SealedColumn } from './claim-row.js';
import { auditPlace } from './sql-audit.js';
import { integer, text, type SqlConnection } from './sql-connection.js';
import { placeOf as eventPlace } from './inbox-row.js';
import { bytesOf, type Row, type SqlValue } from './sql-message.js';
import type { StoreKey } from './store-key.js';

/** A table with sealed values, except `meta`, which holds the store's own key. */
interface SealedTable {
  readonly name: string;
  readonly key: readonly string[];
  /** Columns, in addition to the key, that a value is bound to. */
  readonly boundTo: readonly string[];
  readonly sealed: readonly string[];
  place(row: Row, column: string): readonly string[];
}

const ofClaim = (row: Row, column: string): readonly string[] =>
  claimPlace(
    { account: text(row, 'account'), operation: text(row, 'operation'), reference: text(row, 'reference') },
    column as SealedColumn,
  );
const CLAIM = ['account', 'operation', 'reference'];

export const SEALED_TABLES: readonly SealedTable[] = [
  { name: 'claims', key: ['seq'], boundTo: CLAIM, sealed: ['answer', 'rejection', 'kept', 'reason'], place: ofClaim },
  { name: 'claim_orders', key: ['seq'], boundTo: CLAIM, sealed: ['note'], place: ofClaim },
  {
    name: 'inbox',
    key: ['seq'],
    boundTo: ['id'],
    sealed: ['body', 'detail'],
    place: (row, column) => eventPlace(text(row, 'id'), column as 'body' | 'detail'),
  },
  {
    name: 'quotes',
    key: ['account', 'rate_id'],
    boundTo: [],
    sealed: ['terms'],
    place: (row) => quotePlace(text(row, 'account'), text(row, 'rate_id')),
  },
  { name: 'matters', key: ['id'], boundTo: [], sealed: ['content'], place: (row) => matterPlace(text(row, 'id')) },
  {
    name: 'proposals',
    key: ['flow_id', 'topic'],
    boundTo: PROPOSAL_SAYS.filter((column) => column !== 'flow_id' && column !== 'topic'),
    sealed: ['note'],
    place: proposalPlace,
  },
  {
    name: 'audit',
    key: ['seq'],
    boundTo: ['chain', 'number'],
    sealed: ['details'],
    place: (row) => auditPlace(integer(row, 'chain'), integer(row, 'number')),
  },
];

/** Number of sealed values by the id of the key that sealed them; those whose head is damaged are under `?`. */
export type KeyUsage = ReadonlyMap<string, number>;

export interface Resealed {
  readonly values: number;
  /** By a key that was not given, or with a broken seal: left as they are. */
  readonly unreadable: number;
}

/** The payload keys that the store still needs, and resealing so that it needs only the active one. */
export interface StoreKeys {
  /** Reads the heads of all sealed values, page by page; the store's own key counts as one. */
  usage(): Promise<KeyUsage>;
  /** When `reseal` last found each replaced payload key in use, ms: until then histories may hold its payloads. */
  replaced(): Promise<Readonly<Record<string, number>>>;
  /**
   * Seals with the active key what another key of the ring sealed, and gives the store a new HMAC key if its own keys
   * were sealed by another one. Runs beside gateways and workers: each row by itself, and only if it is still as it was
   * read. Finished rows stay resealed if it is interrupted.
   *
   * @param order.epoch of capabilities, the newest of `CAPABILITY_EPOCHS`: earlier HMAC keys are not valid for a later
   * one
   * @param order.onProgress after each page
   */
  reseal(order: { readonly epoch: number; readonly onProgress?: (done: Resealed) => void }): Promise<Resealed>;
}

const PAGE = 1_000;
const AT_ONCE = 8;
/** Rows that a process still seals with another key meanwhile are found by the next pass, or the next run. */
const PASSES = 3;
export const DAMAGED = '?';

export function createStoreKeys(deps: {
  readonly db: SqlConnection;
  readonly keyring: Keyring;
  readonly storeKey: StoreKey;
}): StoreKeys {
  const { db, keyring, storeKey } = deps;
  const active = keyring.active.id;

  /** The keys of each row's values, a page at a time. */
  async function* heads(table: SealedTable): AsyncGenerator<readonly { row: Row; keyIds: readonly string[] }[]> {
    const names = table.sealed.map((column) => `substr(${column}, 1, ${LONGEST_HEAD}) AS ${column}`);
    const isAny = table.sealed.map((column) => `${column} IS NOT NULL`).join(' OR ');
    const keyColumns = table.key.join(', ');
    let after: readonly SqlValue[] | undefined;
    for (;;) {
      const beyond = after === undefined ? '' : `AND (${keyColumns}) > (${after.map(() => '?').join(', ')})`;
      const sql = `SELECT ${[...table.key, ...names].join(', ')} FROM ${table.name} WHERE (${isAny}) ${beyond}
                   ORDER BY ${keyColumns} LIMIT ${PAGE}`;
      const [found] = await db.read([{ sql, params: after ?? [] }]);
      const rows = found?.rows ?? [];
      yield rows.map((row) => ({
        row,
        keyIds: table.sealed.flatMap((column) => {
          const head = row[column];
          return head == null ? [] : [keyIdOf(bytesOf(head)) ?? DAMAGED];
        }),
      }));
      const last = rows.at(-1);
      if (last === undefined || rows.length < PAGE) return;
      after = table.key.map((column) => last[column] as SqlValue);
    }
  }

  const resealRow = async (table: SealedTable, row: Row): Promise<Resealed> => {
    const key = table.key.map((column) => row[column] as SqlValue);
    const ofKey = table.key.map((column) => `${column} = ?`).join(' AND ');
    const columns = [...table.key, ...table.boundTo, ...table.sealed].join(', ');
    const [found] = await db.read([{ sql: `SELECT ${columns} FROM ${table.name} WHERE ${ofKey}`, params: key }]);
    const present = found?.rows[0];
    let unreadable = 0;
    const updates = table.sealed.flatMap((column) => {
      const value = present?.[column];
      if (present === undefined || value == null) return [];
      const before = bytesOf(value);
      if (keyIdOf(before) === active) return [];
      const place = JSON.stringify(table.place(present, column));
      const plain = opened(before, place);
      if (plain === undefined) {
        unreadable += 1;
        return [];
      }
      const sql = `UPDATE ${table.name} SET ${column} = ? WHERE ${ofKey} AND ${column} = ?`;
      return [{ sql, params: [seal(keyring, plain, place), ...key, before] }];
    });
    if (updates.length === 0) return { values: 0, unreadable };
    // A turn of its own: only a writer of this very row waits for it.
    const name = JSON.stringify(['reseal', table.name, ...key]);
    const done = await db.write(updates, { name, repeatable: true });
    return { values: done.reduce((sum, { changes }) => sum + changes, 0), unreadable };
  };

  const opened = (sealed: Uint8Array, place: string): Uint8Array | undefined => {
    try {
      return open(keyring, sealed, place);
    } catch (error) {
      if (error instanceof UnknownKeyError || error instanceof SealBrokenError) return undefined;
      throw error;
    }
  };

  const pass = async (epoch: number, before: number, onProgress: (done: Resealed) => void): Promise<Resealed> => {
    let done: Resealed = { values: before, unreadable: 0 };
    const sealers = new Set<string>();
    for (const table of SEALED_TABLES) {
      for await (const page of heads(table)) {
        const others = page.filter(({ keyIds }) => keyIds.some((id) => id !== active));
        for (const { keyIds } of others) for (const id of keyIds) if (keyring.find(id)) sealers.add(id);
        // Before the rows: an interrupted run must have recorded that the key was in use.
        await storeKey.rotate(epoch, [...sealers]);
        sealers.clear();
        for (let index = 0; index < others.length; index += AT_ONCE) {
          const some = others.slice(index, index + AT_ONCE);
          for (const { values, unreadable } of await Promise.all(some.map(({ row }) => resealRow(table, row)))) {
            done = { values: done.values + values, unreadable: done.unreadable + unreadable };
          }
        }
        onProgress(done);
      }
    }
    return done;
  };

  return {
    async usage() {
      const usage = new Map<string, number>();
      const count = (id: string): void => void usage.set(id, (usage.get(id) ?? 0) + 1);
      const [found] = await db.read([{ sql: `SELECT value FROM meta WHERE name = 'store-key'`, params: [] }]);
      count(keyIdOf(bytesOf(found?.rows[0]?.['value'])) ?? DAMAGED);
      for (const table of SEALED_TABLES) {
        for await (const page of heads(table)) page.flatMap(({ keyIds }) => keyIds).forEach(count);
      }
      return usage;
    },

    async replaced() {
      await storeKey.refresh();
      return storeKey.replaced();
    },

    async reseal({ epoch, onProgress = () => undefined }) {
      await storeKey.rotate(epoch, []);
      let done: Resealed = { values: 0, unreadable: 0 };
      for (let count = 0; count < PASSES; count += 1) {
        const before = done.values;
        done = await pass(epoch, before, onProgress);
        if (done.values === before) break;
      }
      return done;
    },
  };
}
