import type * as runner from '@jest/globals';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createKeyring, type Keyring } from '../../src/keys/index.js';
import { openConnection } from '../../src/store/libsql/connection.js';
import { migratePostgres } from '../../src/store/postgres/migrate.js';
import { openPostgresStore } from '../../src/store/postgres/open.js';
import { openStore } from '../../src/store/libsql/open.js';
import { turnOf } from '../../src/store/sql-connection.js';
import type { Migrations } from '../../src/store/schema.js';
import type { Store } from '../../src/store/store.js';
import { makeTemporaryDatabase } from '../setup/postgres/temporary-database.js';
import { threadInProcess } from './thread-in-process.js';
import type { StoreKind } from './store-kinds.js';
import type { ReceivedEvent } from '../../src/protocol/events.js';

export const keyring = createKeyring([{ id: 'test', bytes: new Uint8Array(32).fill(7) }]);

/** A clock that only the test moves. */
function createClock(startMs = Date.UTC(2026, 0, 1)): { now: () => number; advance: (ms: number) => void } {
  let nowMs = startMs;
  return {
    now: () => nowMs,
    advance: (ms) => {
      nowMs += ms;
    },
  };
}

/** A place for one store, which several may open at once, as processes do. */
export interface TemporaryStore {
  /** Path of the file, or URL of the database. */
  readonly place: string;
  /** On Postgres, the URL of the role that gateways and workers have, and the stores that are opened here. */
  readonly runRoleUrl: string;
  readonly clock: ReturnType<typeof createClock>;
  open(options?: { readonly keyring?: Keyring; readonly migrations?: Migrations }): Promise<Store>;
  /** Any statement, independently of the stores. */
  readonly execute: (sql: string) => Promise<readonly Record<string, unknown>[]>;
  /** Closes what was opened, too. */
  remove(): Promise<void>;
}

/**
 * @param options.isEmpty the first that opens it makes its tables. @default on Postgres, they are there
 * @param options.inThreads a file is opened by threads, as in a process: only their end closes it at once. @default by this
 *   thread; but each further one contends for the file from a thread of its own, as another process does
 */
export async function makeTemporaryStore(
  kind: StoreKind,
  { isEmpty = false, inThreads = false } = {},
): Promise<TemporaryStore> {
  const here = inThreads ? {} : { startThread: threadInProcess };
  const { place, execute, drop, runRoleUrl } = await (kind === 'libsql' ? makeFolder(here) : makeDatabase(isEmpty));
  const clock = createClock();
  const stores: Store[] = [];
  let opened = 0;
  return {
    place,
    runRoleUrl,
    clock,
    execute,
    async open(options = {}) {
      // Who brings tables of its own makes them as their owner.
      const at = isEmpty || options.migrations !== undefined ? place : runRoleUrl;
      opened += 1;
      const thread = opened > 1 ? {} : here;
      const store = await openAt(at, { keyring, now: clock.now, ...thread, ...options });
      stores.push(store);
      return store;
    },
    async remove() {
      await Promise.all(stores.map((store) => store.close()));
      await drop();
    },
  };
}

/** For a `describe`: one embedded store for all its tests. */
export function withTemporaryStore(use: (store: Store) => void): void {
  let temporary: TemporaryStore | undefined;
  // The soak also loads this file, and cannot load `@jest/globals`.
  const { afterAll, beforeAll } = globalThis as unknown as typeof runner;
  beforeAll(async () => {
    temporary = await makeTemporaryStore('libsql');
    use(await temporary.open());
  });
  afterAll(() => temporary?.remove());
}

/** @param place as in `TemporaryStore` */
export function openAt(
  place: string,
  options: { keyring: Keyring; now?: () => number; migrations?: Migrations; startThread?: typeof threadInProcess },
): Promise<Store> {
  return place.startsWith('postgres:')
    ? openPostgresStore({ url: place, ...options })
    : openStore({ path: place, ...options });
}

async function makeFolder(thread: { startThread?: typeof threadInProcess }) {
  const folder = await mkdtemp(join(tmpdir(), 'towline-store-'));
  const place = join(folder, 'store.db');
  return {
    place,
    runRoleUrl: place,
    execute: async (sql: string) => {
      const db = await openConnection({ path: place, ...thread });
      const [result] = await db.write([{ sql, params: [] }], turnOf.meta);
      await db.close();
      return result?.rows ?? [];
    },
    drop: () => rm(folder, { recursive: true }),
  };
}

async function makeDatabase(isEmpty: boolean) {
  const { url, query, drop } = await makeTemporaryDatabase(isEmpty ? undefined : await (deployed ??= makeDeployed()));
  const runRole = new URL(url);
  [runRole.username, runRole.password] = [RUN_ROLE, RUN_ROLE];
  return { place: url, runRoleUrl: runRole.href, execute: query, drop };
}

const RUN_ROLE = 'towline_run';
let deployed: Promise<string> | undefined;

/** A database with its tables and its role, once for all tests of this process: to copy it takes less than to migrate another. */
async function makeDeployed(): Promise<string> {
  const { name, url, query } = await makeTemporaryDatabase();
  // One role for the cluster: other processes make it at the same time.
  await query(`DO $$ BEGIN CREATE ROLE ${RUN_ROLE} LOGIN PASSWORD '${RUN_ROLE}';
    EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$`);
  await migratePostgres(url, { runRole: RUN_ROLE });
  return name;
}

let events = 0;

export function anEvent(members: Partial<ReceivedEvent> = {}): ReceivedEvent {
  events += 1;
  return {
    id: `event-${events}`,
    source: 'callback',
    flowId: 'bridge-transfer/r1',
    reference: 'r1',
    status: 'DEPOSITED',
    proof: 'signature',
    contentHash: `hash-${events}`,
    body: { n: events },
    ...members,
  };
}
