import type { AuditEntry } from '../protocol/audit.js';
import { type AuditHead, auditHash, type AuditStore, detailsHashOf, NO_ENTRY_BEFORE } from './audit.js';
import { integer, type SqlConnection } from './sql-connection.js';
import type { Row } from './sql-message.js';
import type { StoreKey } from './store-key.js';

const PAGE = 1_000;
/** Most problems that are listed: if half of the log is deleted, not every entry needs a sentence. */
const MOST_PROBLEMS = 100;

export interface AuditCheckDeps {
  readonly db: SqlConnection;
  readonly storeKey: Pick<StoreKey, 'macs'>;
  readonly entryOf: (row: Row) => AuditEntry;
}

/**
 * Reads the audit log from its first entry to its last. Finds entries that were changed, removed or inserted without
 * the store's keys. Entries that were cut off from the end of a chain are found by a later chain, which repeats the
 * last ones, or by heads that were kept elsewhere.
 */
export function createAuditCheck({ db, storeKey, entryOf }: AuditCheckDeps): AuditStore['verify'] {
  async function* all(): AsyncGenerator<{ readonly entry: AuditEntry; readonly hasDetails: boolean }> {
    let [chain, number] = [0, 0];
    for (;;) {
      const sql = `SELECT * FROM audit WHERE (chain, number) > (?, ?) ORDER BY chain, number LIMIT ${PAGE}`;
      const [found] = await db.read([{ sql, params: [chain, number] }]);
      const rows = found?.rows ?? [];
      for (const row of rows) yield { entry: entryOf(row), hasDetails: row['details'] != null };
      const last = rows.at(-1);
      if (last === undefined || rows.length < PAGE) return;
      [chain, number] = [integer(last, 'chain'), integer(last, 'number')];
    }
  }

  return async (known = []) => {
    const problems: string[] = [];
    const problem = (sentence: string) => {
      if (problems.length < MOST_PROBLEMS) problems.push(sentence);
    };
    /** Ends of chains that were seen elsewhere, and by whom. */
    const promised = new Map<string, AuditHead & { readonly by: string }>();
    const promise = (heads: readonly AuditHead[], by: string) => {
      for (const head of heads) {
        const { chain, number, hash } = head;
        const place = `${chain} ${number} ${hash}`;
        if (!promised.has(place)) promised.set(place, { ...head, by });
      }
    };
    promise(known, 'the heads that were kept');
    const heads: AuditHead[] = [];
    /** Flows that an entry says were erased; entries without details, by their flow. */
    const erased = new Set<string>();
    const bare = new Map<string, string>();
    let entries = 0;
    let last: AuditEntry | undefined;
    const missing = (chain: number, from: number, to: number) =>
      problem(`Chain ${chain}: ${from === to ? `entry ${from} is` : `entries ${from} to ${to} are`} missing.`);

    const closeChain = (): void => {
      if (last !== undefined) heads.push({ chain: last.chain, number: last.number, hash: last.hash });
    };
    for await (const { entry, hasDetails } of all()) {
      entries += 1;
      const { chain, number } = entry;
      const here = `Chain ${chain}, entry ${number}`;
      const isFirst = last?.chain !== chain;
      if (isFirst) {
        closeChain();
        for (let gone = (last?.chain ?? 0) + 1; gone < chain; gone += 1) problem(`Chain ${gone} is missing.`);
      }
      const before = isFirst ? 0 : (last?.number ?? 0);
      if (number > before + 1) missing(chain, before + 1, number - 1);
      else if (entry.previous !== (isFirst ? NO_ENTRY_BEFORE : last?.hash)) {
        problem(`${here}: the entry before it is another one than the one it followed.`);
      }
      if (auditHash(entry) !== entry.hash) problem(`${here}: its content was changed.`);
      else if (!storeKey.macs('audit', entry.hash).includes(entry.mac)) {
        problem(`${here}: it was not written with a key of this store.`);
      }
      if (entry.kind === 'erase' && entry.flowId !== null) erased.add(entry.flowId);
      if (entry.details === null) {
        if (!hasDetails) bare.set(entry.flowId ?? '', here);
        else problem(`${here}: its details cannot be opened: they were changed, or a payload key is missing.`);
      } else if (detailsHashOf(entry.details) !== entry.detailsHash) problem(`${here}: its details were changed.`);
      if (entry.kind === 'chain' && entry.details !== null) {
        promise((entry.details['heads'] ?? []) as AuditHead[], `chain ${chain}, which began later,`);
      }
      last = entry;
    }
    closeChain();
    for (const [flowId, here] of bare) {
      if (!erased.has(flowId)) problem(`${here}: its details are missing, and no entry says that its flow was erased.`);
    }
    for (const { chain, number, hash, by } of promised.values()) {
      const sql = `SELECT hash FROM audit WHERE chain = ? AND number = ?`;
      const [found] = await db.read([{ sql, params: [chain, number] }]);
      const row = found?.rows[0];
      if (row === undefined) problem(`Chain ${chain}, entry ${number} is missing: ${by} had it as an end.`);
      else if (row['hash'] !== hash) problem(`Chain ${chain}, entry ${number} is another one than ${by} had.`);
    }
    return { entries, chains: heads.length, heads, problems };
  };
}
