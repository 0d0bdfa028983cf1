import type { AuditEntry } from '../api/audit.js';
import type { AuditKind, AuditMeans } from '../protocol/audit.js';
import {
  type AuditContent,
  type AuditHead,
  auditHash,
  type AuditNote,
  type AuditStore,
  detailsHashOf,
  NO_ENTRY_BEFORE,
  type Owner,
  salted,
} from './audit.js';
import { createAuditCheck } from './audit-check.js';
import { integer, text, turnOf, type SqlConnection } from './sql-connection.js';
import type { Row, SqlBlob, SqlValue, Step } from './sql-message.js';
import { StoreRequestError, StoreUnavailableError } from './store-errors.js';
import type { SealedJson, StoreKey } from './store-key.js';

/** Of one write: more wait for the next one. */
const MOST_AT_ONCE = 200;
/** Chains whose last entries a new one repeats: those of the processes that run beside it, and of those before. */
const HEADS_REPEATED = 32;
const TRIES = 10;

interface Waiting {
  readonly note: AuditNote;
  readonly done: () => void;
  readonly failed: (error: unknown) => void;
}

export interface SqlAuditDeps {
  readonly db: SqlConnection;
  readonly sealed: SealedJson;
  readonly storeKey: Pick<StoreKey, 'mac' | 'macs'>;
  readonly now: () => number;
}

/**
 * A chain for each process that writes, so that no process waits for another one. A chain begins by repeating the last
 * entries of the others, so that entries cut off from those are noticed.
 */
export function createSqlAudit(deps: SqlAuditDeps): AuditStore {
  const { db, sealed, storeKey, now } = deps;
  const queue: Waiting[] = [];
  let head: AuditHead | undefined;
  let isWriting = false;

  const next = (before: AuditHead, note: AuditNote): { readonly step: Step; readonly head: AuditHead } => {
    const { chain } = before;
    const number = before.number + 1;
    const details = salted(note.details);
    const at = now();
    const content: AuditContent = {
      chain,
      number,
      at: new Date(at).toISOString(),
      kind: note.kind,
      flowId: note.flowId ?? null,
      subject: note.subject ?? null,
      action: note.action ?? null,
      actor: note.actor,
      role: note.role ?? null,
      means: note.means,
      detailsHash: detailsHashOf(details),
      previous: before.hash,
    };
    const hash = auditHash(content);
    const sealedDetails = sealed.seal(auditPlace(chain, number), details);
    const params: SqlValue[] = [chain, number, at, content.kind, content.flowId, content.subject, content.action];
    params.push(content.actor, content.role, content.means, sealedDetails, content.detailsHash);
    params.push(content.previous, hash, storeKey.mac('audit', hash));
    return { step: { sql: INSERT, params }, head: { chain, number, hash } };
  };

  /** After an error it is not known whether the last entries were committed, so another chain is begun. */
  async function begin(): Promise<AuditHead> {
    for (let tries = 1; ; tries += 1) {
      const heads = await headsOf(db);
      const chain = (heads[0]?.chain ?? 0) + 1;
      const first = next(
        { chain, number: 0, hash: NO_ENTRY_BEFORE },
        { kind: 'chain', actor: 'towline', means: 'towline', details: { heads } },
      );
      try {
        await db.write([first.step], turnOf.audit(chain));
        return first.head;
      } catch (error) {
        // Another process took the number.
        if (!(error instanceof StoreRequestError && db.dialect.isConflict(error.code)) || tries === TRIES) throw error;
      }
    }
  }

  async function writeAll(): Promise<void> {
    isWriting = true;
    while (queue.length > 0) {
      const batch = queue.splice(0, MOST_AT_ONCE);
      try {
        let last = head ?? (await begin());
        const steps = batch.map(({ note }) => {
          const made = next(last, note);
          last = made.head;
          return made.step;
        });
        await db.write(steps, turnOf.audit(last.chain));
        head = last;
        batch.forEach(({ done }) => done());
      } catch (error) {
        head = undefined;
        batch.forEach(({ failed }) => failed(unwritable(error)));
      }
    }
    isWriting = false;
  }

  const entryOf = (row: Row): AuditEntry => ({ ...contentOf(row), details: opened(row) });
  const opened = (row: Row): AuditEntry['details'] => {
    const bytes = row['details'];
    if (bytes == null) return null;
    try {
      const place = auditPlace(integer(row, 'chain'), integer(row, 'number'));
      return sealed.open(place, bytes as SqlBlob) as AuditEntry['details'];
    } catch {
      // By a key that is not given here: the rest of it can be read all the same.
      return null;
    }
  };

  /** Entries that say who started flows, and to whom they were given, oldest first. */
  const beginningsOf = async (flowIds: readonly string[]): Promise<readonly Row[]> => {
    const sql = `SELECT seq, flow_id, actor, kind, subject, means FROM audit
      WHERE flow_id IN (${flowIds.map(() => '?').join(', ')})
        AND (kind = 'start' OR kind = 'give' OR (kind = 'refused' AND action = 'start'))`;
    const [found] = await db.read([{ sql, params: [...flowIds] }]);
    return (found?.rows ?? []).toSorted((one, other) => integer(one, 'seq') - integer(other, 'seq'));
  };

  return {
    append: (note) =>
      new Promise((done, failed) => {
        queue.push({ note, done, failed });
        if (!isWriting) void writeAll();
      }),

    async list({ limit, after, oldestFirst = false, flowId, actor, kind, subject }) {
      // A flow has few entries: none but its own index is to be used then, which SQLite does not know.
      const unindexed = flowId === undefined ? '' : ` || ''`;
      const given: [string, SqlValue | undefined][] = [
        [oldestFirst ? 'seq > ?' : 'seq < ?', after],
        ['flow_id = ?', flowId],
        [`actor${unindexed} = ?`, actor],
        [`kind${unindexed} = ?`, kind],
        [`subject${unindexed} = ?`, subject],
      ];
      const asked = given.filter((one): one is [string, SqlValue] => one[1] !== undefined);
      const where = asked.length === 0 ? '' : `WHERE ${asked.map(([condition]) => condition).join(' AND ')}`;
      const sql = `SELECT * FROM audit ${where} ORDER BY seq ${oldestFirst ? 'ASC' : 'DESC'} LIMIT ?`;
      const [found] = await db.read([{ sql, params: [...asked.map(([, value]) => value), limit] }]);
      return (found?.rows ?? []).map(entryOf);
    },

    async startersOf(flowId) {
      const { starts } = readBeginnings(await beginningsOf([flowId]));
      return [...new Set(starts.filter((row) => !isUnproven(row)).map((row) => text(row, 'actor')))];
    },

    async ownersOf(flowIds) {
      const rows = flowIds.length === 0 ? [] : await beginningsOf(flowIds);
      const owners = flowIds.flatMap((flowId) => {
        const owner = ownerIn(rows.filter((row) => row['flow_id'] === flowId));
        return owner === undefined ? [] : [[flowId, owner] as const];
      });
      return new Map(owners);
    },

    async flowsOf(name, { limit, before = Number.MAX_SAFE_INTEGER }) {
      const part = (condition: string) =>
        `SELECT * FROM (SELECT flow_id, seq FROM audit WHERE ${condition} AND seq < ? ORDER BY seq DESC LIMIT ?)`;
      const sql = `${part(`kind = 'start' AND actor = ?`)} AS started
        UNION ALL ${part(`kind = 'give' AND subject = ?`)} AS given ORDER BY seq DESC LIMIT ?`;
      const [found] = await db.read([{ sql, params: [name, before, limit, name, before, limit, limit] }]);
      return (found?.rows ?? []).map((row) => ({ flowId: text(row, 'flow_id'), seq: integer(row, 'seq') }));
    },

    verify: createAuditCheck({ db, storeKey, entryOf }),
  };
}

/** A page of a list of flows. */
export interface PageOfFlows {
  readonly limit: number;
  /** What the last row of the page before is named by. */
  readonly after?: string | undefined;
  /** Of the flows that this name started or was given: some may be another's since. @default all */
  readonly begunBy?: string | undefined;
}

/**
 * A condition on a table's column `flow_id`; two parameters, both the name. By the index of the flow, which has few entries:
 * a name may have started any number. With the offset Postgres asks for each row, and never reads all entries at once.
 */
export const BEGUN_BY = (table: 'proposals' | 'matters' | 'inbox'): string => `EXISTS (SELECT 1 FROM audit
  WHERE audit.flow_id = ${table}.flow_id AND ((audit.kind || '' = 'start' AND audit.actor || '' = ?)
    OR (audit.kind || '' = 'give' AND audit.subject || '' = ?)) LIMIT 1 OFFSET 0)`;

const isUnproven = (row: Row): boolean => row['means'] === 'unproven';

/** Of the entries of one flow: starts that were not refused, and gifts. */
function readBeginnings(rows: readonly Row[]): { readonly starts: readonly Row[]; readonly gifts: readonly Row[] } {
  const of = (kind: AuditKind) => rows.filter((row) => row['kind'] === kind);
  // What another Temporal client says about itself refuses nothing.
  const refusals = of('refused').filter((row) => !isUnproven(row));
  const refused = new Set(refusals.map((row) => nullable(row, 'subject')));
  return { starts: of('start').filter((row) => !refused.has(nullable(row, 'subject'))), gifts: of('give') };
}

function ownerIn(rows: readonly Row[]): Owner | undefined {
  const { starts, gifts } = readBeginnings(rows);
  const given = gifts.at(-1);
  if (given !== undefined) return { name: text(given, 'subject'), by: 'gift', seq: integer(given, 'seq') };
  // A start through a gateway beside an unproven one found the flow there.
  const first = starts.find(isUnproven) ?? starts[0];
  if (first === undefined) return undefined;
  const isAlone = starts.every((row) => row['actor'] === first['actor']);
  const name = isUnproven(first) || !isAlone ? null : text(first, 'actor');
  return { name, by: isUnproven(first) || isAlone ? 'start' : 'starts', seq: integer(first, 'seq') };
}

const INSERT = `INSERT INTO audit (chain, number, at, kind, flow_id, subject, action, actor, role, means, details,
    details_hash, previous, hash, mac) VALUES (${Array.from({ length: 15 }, () => '?').join(', ')})`;

export const auditPlace = (chain: number, number: number): readonly string[] => [
  'audit',
  String(chain),
  String(number),
];

/** The last entry of each of the newest chains, newest chain first: reads one row of each, however long it is. */
async function headsOf(db: SqlConnection): Promise<AuditHead[]> {
  const [newest] = await db.read([{ sql: `SELECT COALESCE(MAX(chain), 0) AS chain FROM audit`, params: [] }]);
  const last = integer(newest?.rows[0], 'chain');
  const chains = Array.from({ length: Math.min(last, HEADS_REPEATED) }, (_, index) => last - index);
  const sql = `SELECT chain, number, hash FROM audit WHERE chain = ? ORDER BY number DESC LIMIT 1`;
  const found = chains.length === 0 ? [] : await db.read(chains.map((chain) => ({ sql, params: [chain] })));
  return found
    .flatMap(({ rows }) => rows)
    .map((row) => ({ chain: integer(row, 'chain'), number: integer(row, 'number'), hash: text(row, 'hash') }));
}

/** Every entry can be stored: a refusal, such as that of a missing permission, is an outage, too. */
function unwritable(error: unknown): unknown {
  if (error instanceof StoreUnavailableError) return new StoreUnavailableError(error.code, error.place, true);
  return error instanceof StoreRequestError ? new StoreUnavailableError(error.code, 'database', true) : error;
}

const nullable = (row: Row, column: string): string | null => (row[column] == null ? null : text(row, column));

const contentOf = (row: Row): Omit<AuditEntry, 'details'> => ({
  seq: integer(row, 'seq'),
  chain: integer(row, 'chain'),
  number: integer(row, 'number'),
  at: new Date(integer(row, 'at')).toISOString(),
  kind: text(row, 'kind') as AuditKind,
  flowId: nullable(row, 'flow_id'),
  subject: nullable(row, 'subject'),
  action: nullable(row, 'action'),
  actor: text(row, 'actor'),
  role: nullable(row, 'role'),
  means: text(row, 'means') as AuditMeans,
  detailsHash: text(row, 'details_hash'),
  previous: text(row, 'previous'),
  hash: text(row, 'hash'),
  mac: text(row, 'mac'),
});
