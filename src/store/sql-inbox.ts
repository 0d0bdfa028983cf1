import { randomUUID } from 'node:crypto';
import { setImmediate as turnOfLoop } from 'node:timers/promises';
import { COUNTED_STATES, type InboxStore, type Receipt, type SettledState } from './inbox.js';
import { CAN_BE_SETTLED, inboxRowOf, newRowOf, placeOf, type StoredEvent } from './inbox-row.js';
import { integer, text, turnOf, type SqlConnection, type Turn } from './sql-connection.js';
import type { SealedJson } from './store-key.js';
import { BEGUN_BY } from './sql-audit.js';
import { createInboxLeases } from './sql-inbox-leases.js';
import { createMatchingInbox } from './sql-inbox-matching.js';
import { createUnprovenInbox } from './sql-inbox-unproven.js';
import type { Row, SqlValue, StepResult } from './sql-message.js';
import { StoreRequestError } from './store-errors.js';
import { INBOX_STATES, type InboxRow, type InboxState, type ReceivedEvent } from '../protocol/events.js';

const DEFAULT_LIMIT = 100;
const PURGED_AT_ONCE = 500;
const OPENED_AT_ONCE = 50;
/** Events of every name that one page of a name's own is looked for among. */
const LOOKED_THROUGH = 2_000;

/** States of an untrusted event that its flow may have been shown. */
const SHOWN = `'delivered', 'unverified', 'duplicate', 'late'`;

const WITHOUT_BODY = `
  id, source, flow_id, reference, status, proof, content_hash, NULL AS body, state, detail, received_at, delivered_at,
  settled_at, repeats`;

/** Longer than any transaction is tried for. */
const COMMITS_KEPT_MS = 24 * 60 * 60 * 1000;

const COUNT_BY_STATE = `
  SELECT state, COUNT(*) AS count FROM inbox WHERE state IN (${COUNTED_STATES.map((state) => `'${state}'`).join()})
  GROUP BY state`;

/** Nobody can open it: if the same content comes again, that is no repetition, but an event. */
const A_COPY_IS_NEW = `, content_hash = content_hash || ' ' || id`;

const NEW_EVENT = `
  INSERT INTO inbox (id, source, flow_id, reference, status, proof, came_to, came_trusted, content_hash, body, state,
    received_at)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

/** Each method is one transaction; a receipt is two if the event came before. Events are ordered by their receipt. */
export function createSqlInbox(deps: {
  readonly db: SqlConnection;
  readonly sealed: SealedJson;
  readonly now: () => number;
}): InboxStore {
  const { db, sealed, now } = deps;
  const settled = countOf(INBOX_STATES.filter(isSettled));
  let dropped = 0;
  const unproven = createUnprovenInbox(db);
  const toRow = (row: Row) => inboxRowOf(row as unknown as StoredEvent, sealed);
  const leases = createInboxLeases({ db, now, toRow, instance: randomUUID() });

  const opened = async (stored: readonly Row[]): Promise<readonly InboxRow[]> => {
    const found: InboxRow[] = [];
    for (const row of stored) {
      // Seals take some 50 µs each: other requests go on while a long list is opened.
      if (found.length > 0 && found.length % OPENED_AT_ONCE === 0) await turnOfLoop();
      found.push(toRow(row));
    }
    return found;
  };

  /** The row of another event is in the way. */
  const noneOnConflict = (error: unknown): readonly StepResult[] => {
    if (error instanceof StoreRequestError && db.dialect.isConflict(error.code)) return [];
    throw error;
  };

  /** An event that came before, or a receipt that was committed though its caller got another answer. */
  const repeated = async (turn: Turn, params: readonly SqlValue[]): Promise<Receipt> => {
    const sql = `${NEW_EVENT} ${db.dialect.onRepeatedEvent} RETURNING id`;
    const [known] = await db.write([{ sql, params }], turn).catch(noneOnConflict);
    const row = known?.rows[0];
    if (row === undefined) throw new StoreRequestError('EVENT_ID_IN_USE');
    return { kind: 'duplicate', id: text(row, 'id') };
  };

  /** The row of the same content from before the store's HMAC key was rotated. */
  const knownByEarlierKey = async (
    event: ReceivedEvent,
    earlierHashes: readonly string[],
  ): Promise<string | undefined> => {
    const sql = `SELECT id FROM inbox WHERE source = ? AND came_to = ? AND came_trusted = ?
                 AND content_hash IN (SELECT value FROM ${db.dialect.elements}(?)) LIMIT 1`;
    const params = [event.source, cameTo(event), event.proof === null ? 0 : 1, JSON.stringify(earlierHashes)];
    const [found] = await db.read([{ sql, params }]);
    const id = found?.rows[0]?.['id'];
    if (typeof id !== 'string') return undefined;
    await db.write(
      [{ sql: `UPDATE inbox SET repeats = repeats + 1 WHERE id = ?`, params: [id] }],
      turnOf.inbox(event.flowId ?? id),
    );
    return id;
  };

  return {
    ...leases,
    ...unproven,
    ...createMatchingInbox({ db, now, toRow, wake: (id, atMs) => leases.wake(id, atMs) }),

    // Most events are new, and a statement without a result costs a quarter less.
    async receive(event, leaseMs) {
      if (event.earlierHashes !== undefined && event.earlierHashes.length > 0) {
        const known = await knownByEarlierKey(event, event.earlierHashes);
        if (known !== undefined) return { kind: 'duplicate', id: known };
      }
      const body = event.body === undefined ? null : sealed.sealParsed(placeOf(event.id, 'body'), event.body);
      const at = now();
      const trusted = event.proof === null ? 0 : 1;
      const state = event.flowId === null && event.toMatch !== true ? 'unmatched' : 'waiting';
      const params: readonly SqlValue[] = [
        event.id,
        event.source,
        event.flowId,
        event.reference,
        event.status,
        event.proof,
        cameTo(event),
        trusted,
        event.contentHash,
        body,
        state,
        at,
      ];
      // Events of no flow have no order.
      const turn = turnOf.inbox(event.flowId ?? event.id);
      const [inserted, admitted] = await db.write(
        [
          { sql: `${NEW_EVENT} ON CONFLICT DO NOTHING`, params },
          leases.admit(event.id, at, leaseMs),
          ...(event.flowId === null || event.proof === null ? [] : [leases.prove(event.flowId)]),
        ],
        turn,
      );
      if (inserted?.changes !== 1) return repeated(turn, params);
      if (state === 'unmatched') settled.unmatched += 1;
      const receipt = { kind: 'stored', id: event.id } as const;
      const { flowId } = event;
      if (leaseMs === undefined || flowId === null || admitted?.changes !== 1) return receipt;
      return { ...receipt, leased: { flowId, rows: [newRowOf(event, at)], deferrals: 0, hasProven: trusted === 1 } };
    },

    async settle(verdicts) {
      const [first] = verdicts;
      if (first === undefined) return;
      const at = now();
      const updates = verdicts.map(({ id, state, detail }) => {
        if (!isSettled(state)) throw new StoreRequestError('NOT_A_SETTLEMENT');
        // A flow may still report `unverified` from before a person vouched: then the new delivery is yet to come.
        const stale = state === 'unverified' ? `AND state <> 'unverified' AND coalesce(proof, '') <> 'person'` : '';
        return {
          sql: `UPDATE inbox SET state = ?, detail = ?, settled_at = ?${state === 'quarantined' ? A_COPY_IS_NEW : ''}
                WHERE id = ? AND ${CAN_BE_SETTLED} ${stale}`,
          params: [state, detail === undefined ? null : sealed.seal(placeOf(id, 'detail'), detail), at, id],
        };
      });
      const results = await db.write(updates, turnOf.settling(first.id));
      for (const [index, { state }] of verdicts.entries()) {
        if (isSettled(state)) settled[state] += results[index]?.changes ?? 0;
      }
    },

    async markUnmatched(flowId, ids, detail) {
      const at = now();
      const updates = ids.map((id) => ({
        sql: `UPDATE inbox SET state = 'unmatched', detail = ?, settled_at = ? WHERE id = ? AND state = 'waiting'
                AND NOT EXISTS (SELECT 1 FROM inbox_flows WHERE inbox_flows.flow_id = ? AND woken = 1)`,
        params: [sealed.seal(placeOf(id, 'detail'), detail), at, id, flowId],
      }));
      // In the turn of `releaseWaiting`: one of the two sees what the other did.
      for (const { changes } of await db.write(updates, turnOf.inbox(flowId))) settled.unmatched += changes;
    },

    async dropUnproven(which) {
      const count = await unproven.dropUnproven(which);
      dropped += count;
      return count;
    },

    async unsettledFlows({ limit, ageMs }) {
      const [found] = await db.read([
        {
          sql: `SELECT flow_id, ${db.dialect.idsAsJson} AS ids FROM inbox WHERE state = 'delivered' AND delivered_at <= ?
                GROUP BY flow_id ORDER BY min(delivered_at) LIMIT ?`,
          params: [now() - ageMs, limit],
        },
      ]);
      return rows(found).map((row) => ({
        flowId: text(row, 'flow_id'),
        ids: JSON.parse(text(row, 'ids')) as string[],
      }));
    },

    async replay(id, { proof, flowId } = {}) {
      const at = now();
      const [found] = await db.read([{ sql: `SELECT flow_id FROM inbox WHERE id = ?`, params: [id] }]);
      if (found?.rows.length !== 1) return undefined;
      const ofFlow = (found.rows[0]?.['flow_id'] as string | null) ?? flowId ?? null;
      const request = [
        {
          sql: `UPDATE inbox SET state = 'waiting', detail = NULL, delivered_at = NULL, settled_at = NULL,
                  proof = coalesce(?, proof), flow_id = ?
                WHERE id = ? AND coalesce(flow_id, ?) = ? AND body IS NOT NULL`,
          params: [proof ?? null, ofFlow, id, ofFlow, ofFlow],
        },
        leases.wake(id, at),
        { sql: `SELECT * FROM inbox WHERE id = ?`, params: [id] },
      ];
      const results = await db.write(request, turnOf.inbox(ofFlow ?? id));
      return rows(results[2]).map(toRow)[0];
    },

    async get(id) {
      const [found] = await db.read([{ sql: `SELECT * FROM inbox WHERE id = ?`, params: [id] }]);
      return rows(found).map(toRow)[0];
    },

    async labelsOf(ids) {
      const sql = `SELECT id, status, proof FROM inbox WHERE id IN (SELECT value FROM ${db.dialect.elements}(?))`;
      const [found] = ids.length === 0 ? [] : await db.read([{ sql, params: [JSON.stringify(ids)] }]);
      const labelled = rows(found) as unknown as readonly Pick<StoredEvent, 'id' | 'status' | 'proof'>[];
      return new Map(labelled.map(({ id, status, proof }) => [id, { status, proof }]));
    },

    async list({ flowId, state, trusted, limit, after, bodies = true }) {
      const where: string[] = [];
      const params: SqlValue[] = [];
      const narrow = (condition: string, value: string | undefined): void => {
        if (value === undefined) return;
        where.push(condition);
        params.push(value);
      };
      narrow('flow_id = ?', flowId);
      narrow('state = ?', state);
      if (trusted !== undefined) where.push(trusted ? 'proof IS NOT NULL' : 'proof IS NULL');
      narrow('seq < (SELECT seq FROM inbox WHERE id = ?)', after);
      const sql = `SELECT ${bodies ? '*' : WITHOUT_BODY} FROM inbox ${where.length > 0 ? `WHERE ${where.join(' AND ')}` : ''}
                   ORDER BY seq DESC LIMIT ?`;
      const [found] = await db.read([{ sql, params: [...params, limit ?? DEFAULT_LIMIT] }]);
      return opened(rows(found));
    },

    async listOfName(name, { state, limit, after }) {
      const given = [state, after].filter((value) => value !== undefined);
      const all = `FROM inbox WHERE ${state === undefined ? '' : 'state = ? AND'}
                   seq < ${after === undefined ? Number.MAX_SAFE_INTEGER : '(SELECT seq FROM inbox WHERE id = ?)'}`;
      const last = `${all} ORDER BY seq DESC LIMIT 1 OFFSET ${LOOKED_THROUGH - 1}`;
      const own = `SELECT ${WITHOUT_BODY} ${all} AND seq >= COALESCE((SELECT seq ${last}), 0)
                   AND ${BEGUN_BY('inbox')} ORDER BY seq DESC LIMIT ?`;
      const [found, further] = await db.read([
        { sql: own, params: [...given, ...given, name, name, limit] },
        { sql: `SELECT id ${last}`, params: given },
      ]);
      const page = await opened(rows(found));
      const lastRow = page.length === limit ? page.at(-1)?.id : rows(further).map((row) => text(row, 'id'))[0];
      return { rows: page, next: lastRow ?? null };
    },

    async untrustedTaken(flowId, most) {
      const sql = `SELECT COUNT(*) AS taken FROM
                   (SELECT 1 FROM inbox WHERE flow_id = ? AND proof IS NULL AND state <> 'waiting' LIMIT ?) AS counted`;
      const [found] = await db.read([{ sql, params: [flowId, most] }]);
      return rows(found).map((row) => integer(row, 'taken'))[0] ?? 0;
    },

    async hasShownUntrusted(flowId, statuses) {
      const sql = `SELECT 1 FROM inbox WHERE flow_id = ? AND proof IS NULL AND state IN (${SHOWN})
                   AND UPPER(status) IN (SELECT value FROM ${db.dialect.elements}(?)) LIMIT 1`;
      const [found] = statuses.length === 0 ? [] : await db.read([{ sql, params: [flowId, JSON.stringify(statuses)] }]);
      return rows(found).length > 0;
    },

    async counts() {
      const [found] = await db.read([{ sql: COUNT_BY_STATE, params: [] }]);
      const count = Object.fromEntries(rows(found).map((row) => [text(row, 'state'), integer(row, 'count')]));
      return { byState: { ...countOf(COUNTED_STATES), ...count }, settled: { ...settled }, dropped };
    },

    // Unsettled events keep their body, however old: purging it would drop the event. In pieces, so that events that
    // come in meanwhile do not wait for all of it.
    async purgeBodies(before) {
      let cleared = 0;
      for (;;) {
        // Its state is checked twice: a person may replay the row at this moment.
        const [purged] = await db.write(
          [
            {
              sql: `UPDATE inbox SET body = NULL WHERE state NOT IN ('waiting', 'delivered') AND id IN
                      (SELECT id FROM inbox WHERE received_at < ? AND body IS NOT NULL
                         AND state NOT IN ('waiting', 'delivered') LIMIT ?)`,
              params: [before.getTime(), PURGED_AT_ONCE],
            },
            { sql: `DELETE FROM commits WHERE at < ?`, params: [now() - COMMITS_KEPT_MS] },
          ],
          turnOf.purging,
        );
        cleared += purged?.changes ?? 0;
        if (purged?.changes !== PURGED_AT_ONCE) return cleared;
      }
    },
  };
}

const isSettled = (state: InboxState): state is SettledState => state !== 'waiting' && state !== 'delivered';

const countOf = <State extends InboxState>(states: readonly State[]) =>
  Object.fromEntries(states.map((state) => [state, 0])) as Record<State, number>;

function rows(result: StepResult | undefined): readonly Row[] {
  return result?.rows ?? [];
}

/** The flow that the sender addressed: one that is found for an account webhook later makes no other event of it. */
function cameTo({ source, flowId }: ReceivedEvent): string {
  return source === 'webhook' ? '' : (flowId ?? '');
}
