import { createStore, type Store } from '../../../src/store/store.js';
import { MIGRATIONS } from '../../../src/store/migrations.js';
import { migrate } from '../../../src/store/schema.js';
import { createKeyring } from '../../../src/keys/index.js';
import { connectionOf, type MemoryDatabase, type Through } from './memory-database.js';
import type { InboxRow } from '../../../src/protocol/events.js';

const KEYRING = createKeyring([{ id: 'sim', bytes: new Uint8Array(32).fill(7) }]);

/** Made before the run begins, without faults. */
export async function prepareDatabase(database: MemoryDatabase): Promise<void> {
  const db = connectionOf(
    database,
    (_label, _writes, work) => Promise.resolve(work()),
    () => '',
  );
  await migrate(db, MIGRATIONS);
  await createStore(db, KEYRING, () => 0);
}

/** The real store of one process, each of its steps a call out of the process that has a name. */
export async function openSimStore(database: MemoryDatabase, nowMs: () => number, through: Through): Promise<Store> {
  let label = '';
  let isOpen = false;
  const takeLabel = (): string => {
    const taken = label === '' ? 'store' : label;
    label = '';
    return taken;
  };
  const connection = connectionOf(
    database,
    (name, writes, work) => (isOpen ? through(name, writes, work) : Promise.resolve(work())),
    takeLabel,
  );
  const store = await createStore(connection, KEYRING, nowMs);
  isOpen = true;
  /** A method calls the connection synchronously, so the label is its own. */
  const named = <T extends object>(part: T): T =>
    Object.fromEntries(
      Object.entries(part).map(([name, method]) => [
        name,
        (...args: readonly unknown[]): unknown => {
          const [first] = args as [{ reference?: string; flowId?: string; operation?: string } | string | undefined];
          const about = typeof first === 'string' ? first : [first?.operation, first?.reference ?? first?.flowId].filter(Boolean).join(' '); // prettier-ignore
          label = `${name} ${about}`.trim();
          return (method as (...given: readonly unknown[]) => unknown)(...args);
        },
      ]),
    ) as T;
  return { ...store, claims: named(store.claims), inbox: named(store.inbox), quotes: named(store.quotes) };
}

/** The whole inbox, opened. */
export const inboxRows = async (database: MemoryDatabase): Promise<readonly InboxRow[]> =>
  (await ownStore(database, 0)).inbox.list({ limit: 100_000 });

export const raiseEpoch = async (database: MemoryDatabase, atLeast: number, nowMs: number): Promise<number> =>
  (await ownStore(database, nowMs)).deployment.raiseEpoch(atLeast);

/** A store of no process: nothing goes wrong with it. */
export function ownStore(database: MemoryDatabase, nowMs: number): Promise<Store> {
  const connection = connectionOf(
    database,
    (_label, _writes, work) => Promise.resolve(work()),
    () => '',
  );
  return createStore(connection, KEYRING, () => nowMs);
}
