import type { AuditEntry } from '../api/audit.js';
import {
  type AuditHead,
  auditHash,
  type AuditProblem,
  type AuditProblemCode,
  type AuditStore,
  detailsHashOf,
  NO_ENTRY_BEFORE,
} from './audit.js';
import { integer, type SqlConnection } from './sql-connection.js';
import type { Row } from './sql-message.js';
import type { StoreKey } from './store-key.js';

const PAGE = 1_000;
/** Most problems that are listed: if half of the log is deleted, no person reads one for each entry. */
const MOST_PROBLEMS = 100;

export interface AuditCheckDeps {
  readonly db: SqlConnection;
  readonly storeKey: Pick<StoreKey, 'macs'>;
  readonly entryOf: (row: Row) => AuditEntry;
}

type Place = Omit<AuditProblem, 'code' | 'sentence'>;

/** @param seenBy who had the end of a chain */
function sentenceOf(code: AuditProblemCode, { chain, entry, lastEntry }: Place, seenBy = ''): string {
  const here = entry === undefined ? `Chain ${chain}` : `Chain ${chain}, entry ${entry}`;
  switch (code) {
    case 'chain_missing':
      return `${here} is missing.`;
    case 'entries_missing':
      return lastEntry === undefined
        ? `${here} is missing.`
        : `Chain ${chain}: entries ${entry} to ${lastEntry} are missing.`;
    case 'other_entry_before':
      return `${here}: the entry before it is another one than the one it followed.`;
    case 'content_changed':
      return `${here}: its content was changed.`;
    case 'foreign_key':
      return `${here}: it was not written with a key of this store.`;
    case 'details_changed':
      return `${here}: its details were changed.`;
    case 'details_unreadable':
      return `${here}: its details cannot be opened: they were changed, or a payload key is missing.`;
    case 'details_missing':
      return `${here}: its details are missing, and no entry says that its flow was erased.`;
    case 'head_missing':
      return `${here} is missing: ${seenBy} had it as an end.`;
    case 'head_differs':
      return `${here} is another one than ${seenBy} had.`;
    default:
      return code satisfies never;
  }
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
    const problems: AuditProblem[] = [];
    const problem = (code: AuditProblemCode, place: Place, seenBy?: string) => {
      if (problems.length < MOST_PROBLEMS) problems.push({ code, ...place, sentence: sentenceOf(code, place, seenBy) });
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
    const bare = new Map<string, Place>();
    let entries = 0;
    let last: AuditEntry | undefined;
    const missing = (chain: number, entry: number, lastEntry: number) =>
      problem('entries_missing', { chain, entry, ...(entry !== lastEntry && { lastEntry }) });

    const closeChain = (): void => {
      if (last !== undefined) heads.push({ chain: last.chain, number: last.number, hash: last.hash });
    };
    for await (const { entry, hasDetails } of all()) {
      entries += 1;
      const { chain, number } = entry;
      const here = { chain, entry: number };
      const isFirst = last?.chain !== chain;
      if (isFirst) {
        closeChain();
        for (let gone = (last?.chain ?? 0) + 1; gone < chain; gone += 1) problem('chain_missing', { chain: gone });
      }
      const before = isFirst ? 0 : (last?.number ?? 0);
      if (number > before + 1) missing(chain, before + 1, number - 1);
      else if (entry.previous !== (isFirst ? NO_ENTRY_BEFORE : last?.hash)) {
        problem('other_entry_before', here);
      }
      if (auditHash(entry) !== entry.hash) problem('content_changed', here);
      else if (!storeKey.macs('audit', entry.hash).includes(entry.mac)) {
        problem('foreign_key', here);
      }
      if (entry.kind === 'erase' && entry.flowId !== null) erased.add(entry.flowId);
      if (entry.details === null) {
        if (!hasDetails) bare.set(entry.flowId ?? '', here);
        else problem('details_unreadable', here);
      } else if (detailsHashOf(entry.details) !== entry.detailsHash) problem('details_changed', here);
      if (entry.kind === 'chain' && entry.details !== null) {
        promise((entry.details['heads'] ?? []) as AuditHead[], `chain ${chain}, which began later,`);
      }
      last = entry;
    }
    closeChain();
    for (const [flowId, here] of bare) {
      if (!erased.has(flowId)) problem('details_missing', here);
    }
    for (const { chain, number, hash, by } of promised.values()) {
      const sql = `SELECT hash FROM audit WHERE chain = ? AND number = ?`;
      const [found] = await db.read([{ sql, params: [chain, number] }]);
      const row = found?.rows[0];
      if (row === undefined) problem('head_missing', { chain, entry: number }, by);
      else if (row['hash'] !== hash) problem('head_differs', { chain, entry: number }, by);
    }
    return { entries, chains: heads.length, heads, problems };
  };
}
