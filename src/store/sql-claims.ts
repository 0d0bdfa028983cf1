import {
  claimOf,
  LATEST,
  OF_KEY,
  placeOf,
  reservationOf,
  rowOf,
  SELECT,
  SENDS_ORDERED,
  unlessEarlier,
  values,
  type ClaimRow,
  type SealedColumn,
} from './claim-row.js';
import type { ClaimKey, ClaimOrder, ClaimStore, ContradictionGuard, Reservation, UnsentClaim } from './claim.js';
import {
  CAN_BE_ANSWERED,
  CAN_BE_CLOSED,
  CAN_BE_SENT_AGAIN,
  CAN_BE_TAKEN_OVER,
  ENDED_BY_ORDER,
  LAST_WORDS,
  UNDER_WAY,
} from './claim-steps.js';
import { guardSql, waitsToBeMatched } from './sql-guard.js';
import { integer, text, turnOf, type SqlConnection } from './sql-connection.js';
import { readable, type SealedJson } from './store-key.js';
import type { Request, SqlBlob, SqlValue, Step, StepResult } from './sql-message.js';
import { NEVER_RESERVED, newestMac, sameFingerprint } from '../protocol/fingerprint.js';
import type { Rejection } from '../protocol/messages.js';
import { StoreUnavailableError } from './store-errors.js';

/** The last order of another send was taken back: an attempt of that time must not leave the claim open to another one. */
const HELD_BACK = `(${SENDS_ORDERED} > 0 AND 'held-back' = (SELECT o.action FROM claim_orders o
    WHERE o.account = claims.account AND o.operation = claims.operation AND o.reference = claims.reference
    ORDER BY o.seq DESC LIMIT 1))`;
const SELECT_WITH_LAST_WORD = `SELECT claims.*, (SELECT action ${LAST_WORDS} ORDER BY o.seq DESC LIMIT 1) AS last_word
    FROM claims WHERE ${OF_KEY}`;
const SELECT_WITH_SENDS = `SELECT claims.*, ${SENDS_ORDERED} AS sends_ordered FROM claims WHERE ${OF_KEY}`;

const PURGED_AT_ONCE = 500;
/** As the index `claims_with_answer` has it. */
const HAS_ANSWER = `(answer IS NOT NULL OR rejection IS NOT NULL OR kept IS NOT NULL)`;

interface Condition {
  readonly sql: string;
  readonly params: readonly SqlValue[];
}
const ALWAYS: Condition = { sql: 'true', params: [] };

/** Each method is one transaction, and each transition one compare-and-set in it. */
export function createSqlClaims(deps: {
  readonly db: SqlConnection;
  readonly sealed: SealedJson;
  readonly now: () => number;
  /** True if the store's HMAC keys were rotated since they were read. */
  readonly refreshKeys: () => Promise<boolean>;
}): ClaimStore {
  const { db, sealed, now, refreshKeys } = deps;
  /** Leaves out what cannot be opened. */
  const tolerant = { open: (...at: Parameters<SealedJson['open']>) => readable(() => sealed.open(...at)) };

  const guard = guardSql(db.dialect);

  const write = (key: ClaimKey, request: Request): Promise<readonly StepResult[]> =>
    db.write(request, turnOf.claim(key));
  const changed = async (key: ClaimKey, request: Request): Promise<boolean> =>
    changes((await write(key, request)).at(-1)) === 1;

  const seal = (key: ClaimKey, column: SealedColumn, value: unknown): SqlValue =>
    value === undefined ? null : sealed.seal(placeOf(key, column), value);

  /** The compare-and-set before every POST. After a person's last word there is none. */
  const toSending = (key: ClaimKey, owner: string, unless?: ContradictionGuard, onlyIf = ''): Step => ({
    sql: `UPDATE claims SET phase = 'sending', sending_at = ? WHERE ${OF_KEY} AND phase = 'reserved' AND owner = ?
          AND NOT ${ENDED_BY_ORDER} ${onlyIf}
          ${unless ? `AND ${guard.allows(unless)}` : ''}`,
    params: [now(), ...values(key), owner, ...(unless ? guard.params(unless) : [])],
  });

  /** Records a person's order about a claim, if it is there and the condition holds. */
  const order = (key: ClaimKey, action: string, { actor, note }: ClaimOrder, onlyIf = ALWAYS): Step => ({
    sql: `INSERT INTO claim_orders (account, operation, reference, action, actor, note, at)
          SELECT account, operation, reference, ?, ?, ?, ? FROM claims WHERE ${OF_KEY} AND ${onlyIf.sql}`,
    params: [action, actor, seal(key, 'note', note), now(), ...values(key), ...onlyIf.params],
  });

  /** Another send that was ordered is off: a later attempt, by a reset in the UI, must not send. */
  const takeBackSend = (key: ClaimKey, onlyIf: Condition): Step => ({
    sql: `UPDATE claims SET phase = 'sending', sending_at = ?
          WHERE ${OF_KEY} AND phase = 'reserved' AND ${SENDS_ORDERED} > 0 AND ${onlyIf.sql}`,
    params: [now(), ...values(key), ...onlyIf.params],
  });

  const makeVoid = (
    key: ClaimKey,
    { flowId, fingerprint, epoch = LATEST }: UnsentClaim,
    reason: string,
    onlyIf: Condition,
  ): Step => {
    const at = now();
    return {
      sql: `INSERT INTO claims
              (account, operation, reference, phase, owner, flow_id, fingerprint, reserved_at, ended_at, reason)
            SELECT ?, ?, ?, ${unlessEarlier('void')}, '', ?, ?, ?, ?, ? WHERE ${onlyIf.sql}
            ON CONFLICT (account, operation, reference) DO UPDATE
            SET phase = 'void', ended_at = excluded.ended_at, reason = excluded.reason
            WHERE claims.phase = 'reserved' AND ${SENDS_ORDERED} = 0`,
      params: [
        ...values(key),
        epoch,
        flowId,
        newestMac(fingerprint),
        at,
        at,
        seal(key, 'reason', reason),
        ...onlyIf.params,
      ],
    };
  };

  /** Whether one of these rows is this very order, from an attempt whose answer was lost. */
  const isRecorded = (found: StepResult | undefined, key: ClaimKey, action: string, { actor, note }: ClaimOrder) =>
    (found?.rows ?? []).some(
      (row) =>
        row['action'] === action &&
        row['actor'] === actor &&
        readable(() => sealed.open(placeOf(key, 'note'), row['note'] as SqlBlob)) === note,
    );

  return {
    async reserve(key, { owner, flowId, fingerprint, epoch = LATEST, store }, unless): Promise<Reservation> {
      const at = now();
      const macs = JSON.stringify([...fingerprint.split(' '), NEVER_RESERVED]);
      const [deployment, before, , after, marked, waiting] = await write(key, [
        { sql: `SELECT id, epoch FROM deployment`, params: [] },
        { sql: SELECT, params: values(key) },
        {
          sql: `INSERT INTO claims
                  (account, operation, reference, phase, owner, flow_id, fingerprint, reserved_at)
                SELECT ?, ?, ?, ${unlessEarlier('reserved')}, ?, ?, ?, ?
                FROM deployment WHERE ${store === undefined ? 'true' : 'id = ? AND epoch >= ?'}
                ON CONFLICT (account, operation, reference) DO UPDATE
                SET owner = excluded.owner, flow_id = excluded.flow_id, reserved_at = excluded.reserved_at
                WHERE ${CAN_BE_TAKEN_OVER} AND claims.fingerprint IN (SELECT value FROM ${db.dialect.elements}(?))`,
          params: [
            ...values(key),
            epoch,
            owner,
            flowId,
            newestMac(fingerprint),
            at,
            ...(store === undefined ? [] : [store, epoch]),
            macs,
          ],
        },
        { sql: SELECT_WITH_SENDS, params: values(key) },
        ...(unless === undefined
          ? []
          : [toSending(key, owner, unless, `AND ${SENDS_ORDERED} = 0`), guard.countToMatch(unless)]),
      ]);
      const ours = deployment?.rows[0];
      if (store !== undefined && (text(ours, 'id') !== store || integer(ours, 'epoch') < epoch)) {
        return { kind: 'other-deployment', store: text(ours, 'id'), epoch: integer(ours, 'epoch') };
      }
      const earlier = rowOf(before);
      const takenOver = earlier !== undefined && earlier.owner !== owner;
      if (changes(marked) === 1) return { kind: 'may-send', takenOver };
      // Not decided by `before`: raising the epoch takes no turn, and moves reserved claims to `sending` in between.
      const found = rowOf(after);
      if (found === undefined) throw new StoreUnavailableError('NO_CLAIM', 'database');
      if (found.fingerprint !== NEVER_RESERVED && !sameFingerprint(found.fingerprint, fingerprint)) {
        // By a key that this process has not read yet: the next attempt compares with it.
        if (await refreshKeys()) throw new StoreUnavailableError('KEYS_ROTATED', 'database');
        return { kind: 'other-fingerprint' };
      }
      const sentBefore = integer(after?.rows[0], 'sends_ordered') > 0;
      const isGuarded = found.phase === 'reserved' && unless !== undefined && !sentBefore;
      return isGuarded
        ? { kind: waitsToBeMatched(waiting) ? 'unmatched' : 'contradicted' }
        : reservationOf(claimOf(found, sealed), takenOver, sentBefore);
    },

    async markSending(key, owner, unless) {
      const [before, update, waiting] = await write(key, [
        { sql: SELECT, params: values(key) },
        toSending(key, owner, unless),
        ...(unless === undefined ? [] : [guard.countToMatch(unless)]),
      ]);
      if (changes(update) === 1) return 'sending';
      const found = rowOf(before);
      if (found?.phase !== 'reserved' || found.owner !== owner) return 'fenced';
      return waitsToBeMatched(waiting) ? 'unmatched' : 'contradicted';
    },

    release: (key, owner) =>
      changed(key, [
        {
          sql: `UPDATE claims SET phase = 'reserved', sending_at = NULL
                WHERE ${OF_KEY} AND phase = 'sending' AND owner = ? AND NOT ${ENDED_BY_ORDER} AND NOT ${HELD_BACK}`,
          params: [...values(key), owner],
        },
      ]),

    async recordAnswer(key, answer, came) {
      const [before] = await write(key, [
        { sql: SELECT_WITH_LAST_WORD, params: values(key) },
        {
          sql: `UPDATE claims SET phase = 'answered', answer = ?, kept = ?, ended_at = ?
                WHERE ${OF_KEY} AND ${CAN_BE_ANSWERED}`,
          params: [seal(key, 'answer', answer ?? null), seal(key, 'kept', came), now(), ...values(key)],
        },
      ]);
      const lastWord = before?.rows[0]?.['last_word'];
      return { before: rowOf(before)?.phase ?? 'absent', lastWord: typeof lastWord === 'string' ? lastWord : null };
    },

    recordRejection: (key, owner, rejection, came) =>
      changed(key, [
        {
          sql: `UPDATE claims SET phase = 'rejected', rejection = ?, kept = COALESCE(?, kept), ended_at = ?
                WHERE ${OF_KEY} AND phase = 'sending' AND owner = ?`,
          params: [seal(key, 'rejection', bare(rejection)), seal(key, 'kept', came), now(), ...values(key), owner],
        },
      ]),

    noteRefusal: (key, owner, rejection, came) =>
      changed(key, [
        {
          sql: `UPDATE claims SET rejection = ?, kept = ? WHERE ${OF_KEY} AND phase = 'sending' AND owner = ?`,
          params: [seal(key, 'rejection', bare(rejection)), seal(key, 'kept', came), ...values(key), owner],
        },
      ]),

    // The old owner may still wake up and call `release`: it must not be taken for the new one.
    orderSendAgain: (key, newOwner, given, sentUntilMs = LATEST) =>
      changed(key, [
        order(key, 'send-again', given, {
          params: [newOwner, sentUntilMs],
          sql: CAN_BE_SENT_AGAIN,
        }),
        {
          sql: `UPDATE claims SET phase = 'reserved', owner = ?, reserved_at = ?, sending_at = NULL, rejection = NULL, kept = NULL
                WHERE ${OF_KEY} AND ${CAN_BE_SENT_AGAIN}`,
          params: [newOwner, now(), ...values(key), newOwner, sentUntilMs],
        },
      ]),

    closeNotExecuted: (key, given, sentUntilMs = LATEST) =>
      changed(key, [
        order(key, 'close-not-executed', given, { sql: CAN_BE_CLOSED, params: [sentUntilMs] }),
        {
          sql: `UPDATE claims SET phase = 'void', reason = ?, ended_at = ? WHERE ${OF_KEY} AND ${CAN_BE_CLOSED}`,
          params: [seal(key, 'reason', given.note), now(), ...values(key), sentUntilMs],
        },
      ]),

    recordDecision: async (key, action, given) =>
      (await write(key, [takeBackSend(key, ALWAYS), order(key, action, given)])).at(-1)?.changes === 1,

    async voidUnsent(key, unsent, reason) {
      const [, after] = await write(key, [makeVoid(key, unsent, reason, ALWAYS), { sql: SELECT, params: values(key) }]);
      return rowOf(after)?.phase ?? 'void';
    },

    async closeByOrder(claims, action, given, unless) {
      const [first, ...others] = claims;
      if (first === undefined) {
        const [allowed, waiting] = await db.read([
          { sql: `SELECT 1 AS allowed WHERE ${guard.allows(unless)}`, params: guard.params(unless) },
          guard.countToMatch(unless),
        ]);
        return allowed?.rows.length === 1 ? 'closed' : whyNot(waiting);
      }
      const note = seal(first.key, 'note', given.note);
      // The guard is read by one statement, and all others depend on what that one did: the database may commit an
      // event between two statements. The sealed note identifies the order.
      const isClosed: Condition = {
        sql: `EXISTS (SELECT 1 FROM claim_orders c
              WHERE c.account = ? AND c.operation = ? AND c.reference = ? AND c.note = ?)`,
        params: [...values(first.key), note],
      };
      const underWay: Condition = { sql: UNDER_WAY, params: [unless.flowId, unless.sentUntilMs ?? LATEST] };
      const request = [
        { sql: `SELECT action, actor, note FROM claim_orders WHERE ${OF_KEY}`, params: values(first.key) },
        { sql: `SELECT ${underWay.sql} AS under_way`, params: underWay.params },
        {
          sql: `INSERT INTO claim_orders (account, operation, reference, action, actor, note, at)
                SELECT ?, ?, ?, ?, ?, ?, ? WHERE ${guard.allows(unless)} AND ${underWay.sql} = 0`,
          params: [...values(first.key), action, given.actor, note, now(), ...guard.params(unless), ...underWay.params],
        },
        guard.countToMatch(unless),
        ...claims.flatMap(({ key, ...unsent }) => [
          makeVoid(key, unsent, given.note, isClosed),
          takeBackSend(key, isClosed),
        ]),
        ...others.map(({ key }) => order(key, action, given, isClosed)),
      ];
      // No attempt marks one of these claims as sending between two of the statements.
      const [before, sending, closed, waiting] = await db.write(request, turnOf.claims(claims.map(({ key }) => key)));
      if (closed?.changes === 1 || isRecorded(before, first.key, action, given)) return 'closed';
      return Number(sending?.rows[0]?.['under_way'] ?? 0) > 0 ? 'under-way' : whyNot(waiting);
    },

    async get(key) {
      const [found] = await db.read([{ sql: SELECT, params: values(key) }]);
      const row = rowOf(found);
      return row && claimOf(row, sealed);
    },

    async ofFlow(...flowIds) {
      const sql = `SELECT * FROM claims WHERE flow_id IN (${flowIds.map(() => '?').join(', ')}) ORDER BY seq`;
      const [found] = await db.read([{ sql, params: flowIds }]);
      return (found?.rows ?? []).map((row) => claimOf(row as unknown as ClaimRow, tolerant));
    },

    async orders(key) {
      const sql = `SELECT action, actor, note, at FROM claim_orders WHERE ${OF_KEY} ORDER BY seq`;
      const [found] = await db.read([{ sql, params: values(key) }]);
      return (found?.rows ?? []).map((row) => ({
        action: text(row, 'action'),
        actor: text(row, 'actor'),
        note: (tolerant.open(placeOf(key, 'note'), row['note'] as SqlBlob) ?? '(it cannot be decrypted)') as string,
        at: new Date(integer(row, 'at')).toISOString(),
      }));
    },

    // In pieces, so that no other writer waits for all of it.
    async purgeAnswers(before) {
      let cleared = 0;
      for (;;) {
        const [purged] = await db.write(
          [
            {
              sql: `UPDATE claims SET answer = NULL, rejection = NULL, kept = NULL WHERE seq IN
                      (SELECT seq FROM claims WHERE ended_at < ? AND ${HAS_ANSWER} LIMIT ?)`,
              params: [before.getTime(), PURGED_AT_ONCE],
            },
          ],
          turnOf.purgingAnswers,
        );
        cleared += purged?.changes ?? 0;
        if (purged?.changes !== PURGED_AT_ONCE) return cleared;
      }
    },
  };
}

/** Only its three members: a caller may pass an error object that has more. */
function bare({ httpStatus, message, code }: Rejection): Rejection {
  return { httpStatus, message, ...(code === undefined ? {} : { code }) };
}

function changes(result: StepResult | undefined): number {
  return result?.changes ?? 0;
}

const whyNot = (counted: StepResult | undefined) => (waitsToBeMatched(counted) ? 'unmatched' : 'contradicted');
