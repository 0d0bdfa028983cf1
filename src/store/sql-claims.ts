import {
  claimOf,
  LATEST,
  OF_KEY,
  placeOf,
  reservationOf,
  rowOf,
  SELECT,
  SELECT_ANY,
  SENT_BEFORE,
  stateOfRow,
  unlessEarlier,
  values,
  type ClaimRow,
  type SealedColumn,
} from './claim-row.js';
import type { Changed, ClaimKey, ClaimStore, ContradictionGuard, Reservation, SentLately } from './claim.js';
import {
  CAN_BE_ANSWERED,
  CAN_BE_CLOSED,
  CAN_BE_SENT_AGAIN,
  CAN_BE_TAKEN_OVER,
  ENDED_BY_ORDER,
  LAST_WORDS,
  WAS_RECORDED,
} from './claim-steps.js';
import { createClaimClosing } from './sql-claim-closing.js';
import { guardSql, waitsToBeMatched } from './sql-guard.js';
import { integer, text, turnOf, type SqlConnection } from './sql-connection.js';
import { createVoidAll } from './sql-void-all.js';
import { readable, type SealedJson } from './store-key.js';
import type { Request, SqlBlob, SqlValue, Step, StepResult } from './sql-message.js';
import { NEVER_RESERVED, newestMac, sameFingerprint } from '../protocol/fingerprint.js';
import type { Rejection } from '../protocol/messages.js';
import { StoreUnavailableError } from './store-errors.js';

/** Another send was taken back: an attempt of that time must not leave the claim open to another one. */
const HELD_BACK = `(${SENT_BEFORE} AND 'held-back' = COALESCE((SELECT o.action FROM claim_orders o
    WHERE o.account = claims.account AND o.operation = claims.operation AND o.reference = claims.reference
    ORDER BY o.seq DESC LIMIT 1), ''))`;
const SELECT_WITH_LAST_WORD = `SELECT claims.phase, (SELECT action ${LAST_WORDS} ORDER BY o.seq DESC LIMIT 1) AS last_word
    FROM claims WHERE ${OF_KEY}`;

const PURGED_AT_ONCE = 500;
/** As the index `claims_with_answer` has it. */
const HAS_ANSWER = `(answer IS NOT NULL OR rejection IS NOT NULL OR kept IS NOT NULL)`;

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
  /** By the last statement. */
  const changed = async (key: ClaimKey, request: Request): Promise<Changed> => {
    const results = await write(key, [...request, { sql: SELECT, params: values(key) }]);
    return { isDone: changes(results.at(-2)) === 1, ...stateOfRow(rowOf(results.at(-1))) };
  };
  /** A claim that went to `sending` later than this is another POST, or may be under way. */
  const latestSent = ({ windowMs = 0, sentUntilMs = LATEST }: SentLately): number =>
    Math.min(now() - windowMs, sentUntilMs);

  const seal = (key: ClaimKey, column: SealedColumn, value: unknown): SqlValue =>
    value === undefined ? null : sealed.seal(placeOf(key, column), value);
  const closing = createClaimClosing({ db, write, changed, latestSent, seal, sealed, now, guard });

  /** The compare-and-set before every POST. After a person's last word there is none. */
  const toSending = (key: ClaimKey, owner: string, unless?: ContradictionGuard, onlyIf = ''): Step => ({
    sql: `UPDATE claims SET phase = 'sending', sending_at = ? WHERE ${OF_KEY} AND phase = 'reserved' AND owner = ?
          AND NOT ${ENDED_BY_ORDER} ${onlyIf}
          ${unless ? `AND ${guard.allows(unless)}` : ''}`,
    params: [now(), ...values(key), owner, ...(unless ? guard.params(unless) : [])],
  });

  const handBack = (key: ClaimKey, owner: string, remembering = ''): Step => ({
    sql: `UPDATE claims SET phase = 'reserved', sending_at = NULL, rejection = NULL, kept = NULL${remembering}
          WHERE ${OF_KEY} AND phase = 'sending' AND owner = ? AND NOT ${ENDED_BY_ORDER} AND NOT ${HELD_BACK}`,
    params: [...values(key), owner],
  });

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
        { sql: SELECT, params: values(key) },
        ...(unless === undefined
          ? []
          : [toSending(key, owner, unless, `AND NOT ${SENT_BEFORE}`), guard.countToMatch(unless)]),
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
      const reservation = reservationOf(claimOf(found, sealed), takenOver, found.sends_ordered > 0);
      const isFirst = reservation.kind === 'reserved' && reservation.sentBefore === undefined;
      if (isFirst && unless !== undefined) return { kind: waitsToBeMatched(waiting) ? 'unmatched' : 'contradicted' };
      return reservation;
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

    release: (key, owner) => changed(key, [handBack(key, owner)]),
    turnAway: (key, owner) => changed(key, [handBack(key, owner, ', turned_away = claims.turned_away + 1')]),

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

    confirmRefusal: (key, unless) =>
      changed(key, [
        {
          sql: `UPDATE claims SET phase = 'rejected', ended_at = ?
                WHERE ${OF_KEY} AND phase = 'sending' AND rejection IS NOT NULL AND ${guard.allows(unless)}`,
          params: [now(), ...values(key), ...guard.params(unless)],
        },
      ]),

    // The old owner may still wake up and call `release`: it must not be taken for the new one.
    orderSendAgain(key, newOwner, given, lately = {}) {
      const note = seal(key, 'note', given.note);
      const onlyIf = { sql: CAN_BE_SENT_AGAIN, params: [newOwner, latestSent(lately), given.id ?? null] };
      return changed(key, [
        closing.order(key, 'send-again', given, onlyIf, note),
        {
          sql: `UPDATE claims SET phase = 'reserved', owner = ?, reserved_at = ?, rejection = NULL, kept = NULL
                WHERE ${OF_KEY} AND ${WAS_RECORDED}`,
          params: [newOwner, now(), ...values(key), note],
        },
      ]);
    },

    closeNotExecuted(key, given, lately = {}) {
      const sentUntilMs = latestSent(lately);
      return changed(key, [
        closing.order(key, 'close-not-executed', given, { sql: CAN_BE_CLOSED, params: [sentUntilMs] }),
        {
          // One of which the store had forgotten when it was sent stays one that may have been.
          sql: `UPDATE claims SET phase = 'void', reason = ?, ended_at = ?,
                  sending_at = CASE WHEN phase = 'sending' THEN COALESCE(sending_at, reserved_at) ELSE sending_at END
                WHERE ${OF_KEY} AND ${CAN_BE_CLOSED}`,
          params: [seal(key, 'reason', given.note), now(), ...values(key), sentUntilMs],
        },
      ]);
    },

    recordDecision: closing.recordDecision,
    voidUnsent: closing.voidUnsent,
    closeByOrder: closing.closeByOrder,
    ...createVoidAll({ db, seal, sealed, now, guard }),

    async get(key) {
      const [found] = await db.read([{ sql: SELECT, params: values(key) }]);
      const row = rowOf(found);
      return row && claimOf(row, sealed);
    },

    async ofFlow(...flowIds) {
      const sql = `${SELECT_ANY} WHERE flow_id IN (${flowIds.map(() => '?').join(', ')}) ORDER BY seq`;
      const [found] = await db.read([{ sql, params: flowIds }]);
      return (found?.rows ?? []).map((row) => claimOf(row as unknown as ClaimRow, tolerant));
    },

    async orders(key) {
      const sql = `SELECT action, actor, note, order_id, at FROM claim_orders WHERE ${OF_KEY} ORDER BY seq`;
      const [found] = await db.read([{ sql, params: values(key) }]);
      return (found?.rows ?? []).map((row) => ({
        action: text(row, 'action'),
        actor: text(row, 'actor'),
        note: (tolerant.open(placeOf(key, 'note'), row['note'] as SqlBlob) ?? '(it cannot be decrypted)') as string,
        ...(row['order_id'] === null ? {} : { id: text(row, 'order_id') }),
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
