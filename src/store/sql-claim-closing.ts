import {
  LATEST,
  OF_KEY,
  placeOf,
  rowOf,
  SELECT,
  SENDS_ORDERED,
  SENT_BEFORE,
  stateOfRow,
  unlessEarlier,
  values,
  type SealedColumn,
} from './claim-row.js';
import type { Changed, ClaimKey, ClaimOrder, ClaimStore, SentLately, UnsentClaim } from './claim.js';
import { UNDER_WAY } from './claim-steps.js';
import { turnOf, type SqlConnection } from './sql-connection.js';
import { waitsToBeMatched, type GuardSql } from './sql-guard.js';
import type { Request, SqlBlob, SqlValue, Step, StepResult } from './sql-message.js';
import { readable, type SealedJson } from './store-key.js';
import { newestMac } from '../protocol/fingerprint.js';

interface Condition {
  readonly sql: string;
  readonly params: readonly SqlValue[];
}
const ALWAYS: Condition = { sql: 'true', params: [] };

/** Of a claim that is reserved: nothing left, or the service turned away all that did, and no more than are known. */
const NEVER_EXECUTED = `${SENDS_ORDERED} = 0 AND claims.turned_away <= ?`;
interface ClaimClosing extends Pick<ClaimStore, 'recordDecision' | 'voidUnsent' | 'closeByOrder'> {
  /** Records a person's order about a claim, if it is there and the condition holds. @param note the sealed one */
  order(key: ClaimKey, action: string, order: ClaimOrder, onlyIf?: Condition, note?: SqlValue): Step;
}

/** How claims are closed to further sends. */
export function createClaimClosing(deps: {
  readonly db: SqlConnection;
  readonly write: (key: ClaimKey, request: Request) => Promise<readonly StepResult[]>;
  readonly changed: (key: ClaimKey, request: Request) => Promise<Changed>;
  readonly latestSent: (lately: SentLately) => number;
  readonly seal: (key: ClaimKey, column: SealedColumn, value: unknown) => SqlValue;
  readonly sealed: Pick<SealedJson, 'open'>;
  readonly now: () => number;
  readonly guard: GuardSql;
}): ClaimClosing {
  const { db, write, changed, latestSent, seal, sealed, now, guard } = deps;

  const order: ClaimClosing['order'] = (
    key,
    action,
    { actor, note, id = null },
    onlyIf = ALWAYS,
    sealedNote = seal(key, 'note', note),
  ) => ({
    sql: `INSERT INTO claim_orders (account, operation, reference, action, actor, note, order_id, at)
          SELECT account, operation, reference, ?, ?, ?, ?, ? FROM claims WHERE ${OF_KEY} AND ${onlyIf.sql}`,
    params: [action, actor, sealedNote, id, now(), ...values(key), ...onlyIf.params],
  });

  /** Another send is off: a later attempt, by a reset in the UI, must not send. What was sent, was sent when it was. */
  const takeBackSend = (key: ClaimKey, onlyIf: Condition): Step => ({
    sql: `UPDATE claims SET phase = 'sending', sending_at = COALESCE(sending_at, ?)
          WHERE ${OF_KEY} AND phase = 'reserved' AND ${SENT_BEFORE} AND ${onlyIf.sql}`,
    params: [now(), ...values(key), ...onlyIf.params],
  });

  const makeVoid = (
    key: ClaimKey,
    { flowId, fingerprint, epoch = LATEST, turnedAway = 0 }: UnsentClaim,
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
            WHERE claims.phase = 'reserved' AND ${NEVER_EXECUTED}`,
      params: [
        ...values(key),
        epoch,
        flowId,
        newestMac(fingerprint),
        at,
        at,
        seal(key, 'reason', reason),
        ...onlyIf.params,
        turnedAway,
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
    order,

    recordDecision: (key, action, given) => changed(key, [takeBackSend(key, ALWAYS), order(key, action, given)]),

    async voidUnsent(key, unsent, reason) {
      const [, after] = await write(key, [makeVoid(key, unsent, reason, ALWAYS), { sql: SELECT, params: values(key) }]);
      const state = stateOfRow(rowOf(after));
      return { ...state, phase: state.phase === 'absent' ? 'void' : state.phase };
    },

    async closeByOrder(claims, action, given, unless) {
      const [first, ...others] = claims;
      if (first === undefined) {
        const [allowed, waiting] = await db.read([
          { sql: `SELECT 1 AS allowed WHERE ${guard.allows(unless)}`, params: guard.params(unless) },
          guard.countToMatch(unless),
        ]);
        return { kind: allowed?.rows.length === 1 ? 'closed' : whyNot(waiting), claims: [] };
      }
      const note = seal(first.key, 'note', given.note);
      // The guard is read by one statement, and all others depend on what that one did: the database may commit an
      // event between two statements. The sealed note identifies the order.
      const isClosed: Condition = {
        sql: `EXISTS (SELECT 1 FROM claim_orders c
              WHERE c.account = ? AND c.operation = ? AND c.reference = ? AND c.note = ?)`,
        params: [...values(first.key), note],
      };
      const underWay: Condition = { sql: UNDER_WAY, params: [unless.flowId, latestSent(unless)] };
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
        ...claims.map(({ key }) => ({ sql: SELECT, params: values(key) })),
      ];
      // No attempt marks one of these claims as sending between two of the statements.
      const results = await db.write(request, turnOf.claims(claims.map(({ key }) => key)));
      const [before, sending, closed, waiting] = results;
      const found = results.slice(-claims.length);
      const after = claims.map(({ key }, index) => ({ ...key, ...stateOfRow(rowOf(found[index])) }));
      if (closed?.changes === 1 || isRecorded(before, first.key, action, given))
        return { kind: 'closed', claims: after };
      const isUnderWay = Number(sending?.rows[0]?.['under_way'] ?? 0) > 0;
      return { kind: isUnderWay ? 'under-way' : whyNot(waiting), claims: after };
    },
  };
}

const whyNot = (counted: StepResult | undefined) => (waitsToBeMatched(counted) ? 'unmatched' : 'contradicted');
