import { setImmediate as turnOfLoop } from 'node:timers/promises';
import { contentOfMatterId, isContradiction, type MatterContent } from '../protocol/matters.js';
import { readable, type SealedJson } from './store-key.js';
import { BEGUN_BY, type PageOfFlows } from './sql-audit.js';
import { integer, text, turnOf, type SqlConnection } from './sql-connection.js';
import type { Row, SqlBlob } from './sql-message.js';
import { isoTime, systemClock } from '../clock.js';

/** How far one receiver of notifications is with one matter. */
export interface SentTo {
  /** 0: notified; each further one is a reminder. */
  readonly level: number;
  readonly resolved?: true;
}

/** A matter about which something may have to be sent. */
export interface DueMatter {
  readonly id: string;
  readonly content: MatterContent;
  /** Milliseconds since 1970, by the store's clock. */
  readonly openedAtMs: number;
  readonly resolvedAtMs: number | undefined;
  /** By the id of the receiver. */
  readonly sent: Readonly<Record<string, SentTo>>;
}

/** One thing that came after a flow, and says otherwise. */
export interface Contradiction {
  readonly content: MatterContent;
  /** Null until a person has acknowledged it. */
  readonly acknowledged: { readonly at: string; readonly by: string } | null;
}

/** Matters that people are notified about: any process writes them, one at a time sends them. */
export interface MatterStore {
  /** Due at once. An existing one, open or resolved, stays unchanged. @throws StoreUnavailableError */
  open(id: string, content: MatterContent): Promise<void>;
  /**
   * Nothing is left to do: its receivers are notified of that, once. If it was never opened, it cannot be opened later.
   */
  resolve(id: string): Promise<void>;
  /** Opened again if it happened again: the same id, after it was resolved. */
  reopen(id: string, content: MatterContent): Promise<void>;
  /** Those that are due: first those that no receiver has, then the longest due. */
  due(most: number): Promise<{ readonly nowMs: number; readonly matters: readonly DueMatter[] }>;
  /** @param dueAtMs when to check it again; undefined: never. One that was resolved meanwhile stays due. */
  keep(
    matter: DueMatter,
    next: { readonly sent: DueMatter['sent']; readonly dueAtMs: number | undefined },
  ): Promise<void>;
  /** Those that are not resolved and wait for a person. */
  countOpen(): Promise<number>;
  /** The contradictions of these flows, by flow id, oldest first. */
  contradictionsOf(flowIds: readonly string[]): Promise<ReadonlyMap<string, readonly Contradiction[]>>;
  /** Those of these flows that have one. */
  contradictedAmong(flowIds: readonly string[]): Promise<ReadonlySet<string>>;
  /** Flows with a contradiction, the latest first: those that wait for a person, or all. A page begins after a flow. */
  contradictedFlows(which: 'open' | 'all', page: PageOfFlows): Promise<readonly string[]>;
  /** Resolves the contradictions of a flow. @returns false if none is open */
  acknowledge(flowId: string, by: string): Promise<boolean>;
  /** Deletes matters that were resolved before that moment, but no contradiction: a flow shows its own for ever. */
  purge(before: Date): Promise<void>;
}

const OPENED_AT_ONCE = 50;

/** The place that the content of a matter is bound to. */
export const matterPlace = (id: string): readonly string[] => ['matters', id, 'content'];

export function createSqlMatters(deps: {
  readonly db: SqlConnection;
  readonly sealed: SealedJson;
  readonly now: () => number;
}): MatterStore {
  const { db, sealed, now } = deps;
  const insert = (id: string, content: MatterContent, onConflict: string) => {
    const at = now();
    const sql = `INSERT INTO matters (id, opened_at, due_at, sent, content, flow_id) VALUES (?, ?, ?, '{}', ?, ?)
                 ON CONFLICT (id) ${onConflict}`;
    const contradicted = isContradiction(content) ? (content.flowId ?? null) : null;
    const params = [id, at, at, sealed.seal(matterPlace(id), content), contradicted];
    return db.write([{ sql, params }], turnOf.matter(id));
  };
  const toMatter = (row: Row): DueMatter => {
    const id = text(row, 'id');
    const openedAtMs = integer(row, 'opened_at');
    const resolvedAt = integer(row, 'resolved_at');
    // One unreadable row, for example because its key is not known here yet, must not block the others.
    const content = readable(() => sealed.open(matterPlace(id), row['content'] as SqlBlob) as MatterContent);
    return {
      id,
      content: content ?? contentOfMatterId(id, new Date(openedAtMs).toISOString()),
      openedAtMs,
      resolvedAtMs: resolvedAt === 0 ? undefined : resolvedAt,
      sent: readable(() => JSON.parse(text(row, 'sent')) as DueMatter['sent']) ?? {},
    };
  };
  return {
    async open(id, content) {
      await insert(id, content, 'DO NOTHING');
    },

    async reopen(id, content) {
      await insert(
        id,
        content,
        `DO UPDATE SET opened_at = excluded.opened_at, due_at = excluded.due_at, sent = '{}', content = excluded.content,
           resolved_at = 0 WHERE matters.resolved_at > 0`,
      );
    },

    async resolve(id) {
      const at = now();
      // A late attempt to open it finds it resolved.
      const sql = `INSERT INTO matters (id, opened_at, resolved_at, sent) VALUES (?, ?, ?, '{}')
                   ON CONFLICT (id) DO UPDATE SET resolved_at = excluded.resolved_at, due_at = excluded.opened_at
                   WHERE matters.resolved_at = 0`;
      await db.write([{ sql, params: [id, at, at] }], turnOf.matter(id));
    },

    async due(most) {
      const nowMs = now();
      const sql = `SELECT * FROM matters WHERE due_at <= ?
                   ORDER BY CASE WHEN sent = '{}' THEN 0 ELSE 1 END, due_at LIMIT ?`;
      const [found] = await db.read([{ sql, params: [nowMs, most] }]);
      return { nowMs, matters: (found?.rows ?? []).map(toMatter) };
    },

    async keep({ id, openedAtMs, resolvedAtMs = 0 }, { sent, dueAtMs }) {
      // If it was opened again meanwhile, it is a different matter.
      const sql = `UPDATE matters SET sent = ?, due_at = CASE WHEN resolved_at = ? THEN CAST(? AS BIGINT) ELSE due_at END
                   WHERE id = ? AND opened_at = ?`;
      const params = [JSON.stringify(sent), resolvedAtMs, dueAtMs ?? null, id, openedAtMs];
      await db.write([{ sql, params }], turnOf.matter(id));
    },

    async countOpen() {
      const sql = `SELECT COUNT(*) AS count FROM matters WHERE resolved_at = 0 AND due_at IS NOT NULL`;
      const [found] = await db.read([{ sql, params: [] }]);
      return integer(found?.rows[0], 'count');
    },

    async contradictionsOf(flowIds) {
      const found = new Map<string, Contradiction[]>();
      if (flowIds.length === 0) return found;
      const sql = `SELECT * FROM matters WHERE flow_id IN (SELECT value FROM ${db.dialect.elements}(?))
                   ORDER BY opened_at, id`;
      const [rows] = await db.read([{ sql, params: [JSON.stringify(flowIds)] }]);
      for (const [opened, row] of (rows?.rows ?? []).entries()) {
        // Other requests go on while the contents of a long list are opened.
        if (opened > 0 && opened % OPENED_AT_ONCE === 0) await turnOfLoop();
        const { content, resolvedAtMs } = toMatter(row);
        const by = row['acknowledged_by'] === null ? '' : text(row, 'acknowledged_by');
        const acknowledged = resolvedAtMs === undefined ? null : { at: new Date(resolvedAtMs).toISOString(), by };
        const flowId = text(row, 'flow_id');
        found.set(flowId, [...(found.get(flowId) ?? []), { content, acknowledged }]);
      }
      return found;
    },

    async contradictedAmong(flowIds) {
      const sql = `SELECT DISTINCT flow_id FROM matters
                   WHERE flow_id IN (SELECT value FROM ${db.dialect.elements}(?))`;
      const [found] = flowIds.length === 0 ? [] : await db.read([{ sql, params: [JSON.stringify(flowIds)] }]);
      return new Set((found?.rows ?? []).map((row) => text(row, 'flow_id')));
    },

    async contradictedFlows(which, { limit, after, begunBy }) {
      const isOpen = which === 'open' ? 'AND resolved_at = 0' : '';
      const isOfName = begunBy === undefined ? '' : `AND ${BEGUN_BY('matters')}`;
      // That flow may have been acknowledged since.
      const last = `(SELECT MAX(opened_at) FROM matters AS last WHERE last.flow_id = ?)`;
      const isAfter = `HAVING MAX(opened_at) < ${last} OR (MAX(opened_at) = ${last} AND flow_id > ?)`;
      const sql = `SELECT flow_id FROM matters WHERE flow_id IS NOT NULL ${isOpen} ${isOfName}
                   GROUP BY flow_id ${after === undefined ? '' : isAfter}
                   ORDER BY MAX(opened_at) DESC, flow_id LIMIT ?`;
      const params = [begunBy, begunBy, after, after, after, limit].filter((value) => value !== undefined);
      const [found] = await db.read([{ sql, params }]);
      return (found?.rows ?? []).map((row) => text(row, 'flow_id'));
    },

    async acknowledge(flowId, by) {
      const sql = `UPDATE matters SET resolved_at = ?, acknowledged_by = ?, due_at = opened_at
                   WHERE flow_id = ? AND resolved_at = 0`;
      const [done] = await db.write([{ sql, params: [now(), by, flowId] }], turnOf.matter(flowId));
      return (done?.changes ?? 0) > 0;
    },

    async purge(before) {
      const sql = `DELETE FROM matters WHERE flow_id IS NULL AND opened_at < ? AND (due_at IS NULL OR (resolved_at > 0 AND resolved_at < ?))`;
      await db.write([{ sql, params: [before.getTime(), before.getTime()] }], turnOf.purging);
    },
  };
}

/** People are notified of it, once for each event. */
export function openEventMatter(
  matters: Pick<MatterStore, 'open'>,
  about: Pick<MatterContent, 'kind' | 'flowId' | 'ended'> & { readonly eventId: string },
): Promise<void> {
  const content = { ...about, since: isoTime(systemClock) };
  return matters.open(`${about.kind}/${about.eventId}`, content);
}
