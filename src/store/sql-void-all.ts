import { LATEST, OF_KEY, rowOf, SELECT, SENDS_ORDERED, stateOfRow, values, type SealedColumn } from './claim-row.js';
import { isOver, type ClaimAfter, type ClaimKey, type ClaimStore, type UnsentClaim } from './claim.js';
import { inboxRowOf, type StoredEvent } from './inbox-row.js';
import { integer, turnOf, type SqlConnection } from './sql-connection.js';
import { waitsToBeMatched, type GuardSql } from './sql-guard.js';
import type { SqlValue, Step } from './sql-message.js';
import type { SealedJson } from './store-key.js';
import type { ClaimState } from '../protocol/claim-table.js';
import { MAX_UNTRUSTED } from '../protocol/events.js';
import { newestMac } from '../protocol/fingerprint.js';

type Unsent = UnsentClaim & { readonly key: ClaimKey };

/**
 * 1 for a claim of which a POST may have been executed, as `isInTheWay`; and for a missing one that may have existed in
 * the epoch of its flow.
 */
const IN_THE_WAY = `CASE WHEN EXISTS (SELECT 1 FROM claims WHERE ${OF_KEY} AND phase <> 'rejected'
        AND (phase IN ('sending', 'answered') OR sending_at IS NOT NULL OR ${SENDS_ORDERED} > 0
          OR (phase = 'reserved' AND turned_away > ?)))
      OR (NOT EXISTS (SELECT 1 FROM claims WHERE ${OF_KEY}) AND (SELECT epoch FROM deployment) > ?)
    THEN 1 ELSE 0 END`;
const inTheWayParams = ({ key, turnedAway = 0, epoch = LATEST }: Unsent): readonly SqlValue[] => [
  ...values(key),
  turnedAway,
  ...values(key),
  epoch,
];

const COLUMNS = `account, operation, reference, phase, owner, flow_id, fingerprint, reserved_at, ended_at, reason`;
/** Many times as many as one flow gets. */
const MOST_TRUSTED = 200;

/** How an end that says that nothing moved closes the claims of its flow. */
export function createVoidAll(deps: {
  readonly db: SqlConnection;
  readonly seal: (key: ClaimKey, column: SealedColumn, value: unknown) => SqlValue;
  readonly sealed: SealedJson;
  readonly now: () => number;
  readonly guard: GuardSql;
}): Pick<ClaimStore, 'voidAll'> {
  const { db, seal, sealed, now, guard } = deps;

  /** Those that forbid it first: a flood of forgeries that the flow never gets must not hide them. */
  const eventsOf = (flowId: string, isTrusted: boolean, most: number, reviewed: readonly string[]): Step => ({
    sql: `SELECT * FROM inbox WHERE flow_id = ? AND proof IS ${isTrusted ? 'NOT ' : ''}NULL
          ORDER BY CASE WHEN state IN ('waiting', 'delivered')
                         AND id NOT IN (SELECT value FROM ${db.dialect.elements}(?)) THEN 0 ELSE 1 END, seq DESC LIMIT ?`,
    params: [flowId, JSON.stringify(reviewed), most],
  });

  return {
    async voidAll(claims, reason, { flowId, reviewedEventIds: besides }) {
      const at = now();
      // Of the untrusted ones the flow takes only so many.
      const untrustedToo = { flowId, besides, orUntrusted: true, untaken: true };
      const guards = [{ flowId, besides }, untrustedToo];
      const isAllowed = [...claims.map(() => `${IN_THE_WAY} = 0`), ...guards.map((one) => guard.allows(one))].join(
        ' AND ',
      );
      const allowing = [...claims.flatMap(inTheWayParams), ...guards.flatMap((one) => guard.params(one))];
      // One statement decides for all claims and makes them void: the database may commit an event between two.
      const made = claims.map(() => `UNION ALL SELECT ?, ?, ?, 'void', '', ?, ?, ?, ?, ?`).join(' ');
      const makeVoid: Step = {
        sql: `INSERT INTO claims (${COLUMNS})
              SELECT * FROM (SELECT ${COLUMNS} FROM claims WHERE false ${made}) AS made WHERE ${isAllowed}
              ON CONFLICT (account, operation, reference) DO UPDATE
              SET phase = 'void', ended_at = excluded.ended_at, reason = excluded.reason
              WHERE claims.phase = 'reserved'`,
        params: [
          ...claims.flatMap(({ key, flowId: of, fingerprint }) => [
            ...values(key),
            of,
            newestMac(fingerprint),
            at,
            at,
            seal(key, 'reason', reason),
          ]),
          ...allowing,
        ],
      };
      const results = await db.write(
        [
          { sql: `SELECT CASE WHEN ${isAllowed} THEN 1 ELSE 0 END AS allowed`, params: allowing },
          makeVoid,
          eventsOf(flowId, true, MOST_TRUSTED, besides),
          eventsOf(flowId, false, MAX_UNTRUSTED, besides),
          guard.countToMatch(untrustedToo),
          { sql: `SELECT epoch FROM deployment`, params: [] },
          ...claims.map(({ key }) => ({ sql: SELECT, params: values(key) })),
        ],
        turnOf.claims(claims.map(({ key }) => key)),
      );
      const [allowed, voided, trusted, untrusted, waiting, deployment, ...found] = results;
      const epoch = integer(deployment?.rows[0], 'epoch');
      const after: readonly ClaimAfter[] = claims.map(({ key, ...unsent }, index) => {
        const row = rowOf(found[index]);
        const state: ClaimState = row === undefined && epoch > (unsent.epoch ?? LATEST) ? LOST : stateOfRow(row);
        return { ...key, ...state };
      });
      const rows = [...(untrusted?.rows ?? []), ...(trusted?.rows ?? [])] as unknown as readonly StoredEvent[];
      return {
        // If nothing was changed, they were closed before, or an event came.
        isDone:
          (voided?.changes ?? 0) > 0 ||
          (integer(allowed?.rows[0], 'allowed') === 1 && after.every(({ phase }) => isOver(phase))),
        claims: after,
        events: rows.toSorted((one, other) => one.seq - other.seq).map((row) => inboxRowOf(row, sealed)),
        hasToMatch: waitsToBeMatched(waiting),
      };
    },
  };
}

/** It may have been sent, and its claim was lost with the store. */
const LOST: ClaimState = { phase: 'absent', sent: 'unknown' };
