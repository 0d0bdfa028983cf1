import type { Rejection } from '../protocol/messages.js';
import { NO_CLAIM, sentOf, stateOf, type ClaimFacts, type ClaimState } from '../protocol/claim-table.js';
import type { Claim, ClaimKey, ClaimPhase, KeptAnswer, Reservation } from './claim.js';
import type { SqlBlob, StepResult } from './sql-message.js';
import type { SealedJson } from './store-key.js';

/** A row of the table `claims`, by `SELECT`. */
export interface ClaimRow {
  readonly account: string;
  readonly operation: string;
  readonly reference: string;
  readonly phase: ClaimPhase;
  readonly owner: string;
  readonly flow_id: string;
  readonly fingerprint: string;
  readonly reserved_at: number;
  readonly sending_at: number | null;
  readonly ended_at: number | null;
  readonly turned_away: number;
  readonly answer: SqlBlob | null;
  readonly rejection: SqlBlob | null;
  readonly kept: SqlBlob | null;
  readonly reason: SqlBlob | null;
  /** How often another send of it was ordered. */
  readonly sends_ordered: number;
}

export type SealedColumn = 'answer' | 'rejection' | 'kept' | 'reason' | 'note';

/** The place that a sealed column of a claim is bound to. */
export function placeOf(key: ClaimKey, column: SealedColumn): readonly string[] {
  return ['claims', key.account, key.operation, key.reference, column];
}

/** @throws UnknownKeyError @throws SealBrokenError */
export function claimOf(row: ClaimRow, sealed: Pick<SealedJson, 'open'>): Claim {
  const { account, operation, reference } = row;
  const open = (column: SealedColumn, value: SqlBlob): unknown => sealed.open(placeOf(row, column), value);
  return {
    account,
    operation,
    reference,
    phase: row.phase,
    owner: row.owner,
    flowId: row.flow_id,
    fingerprint: row.fingerprint,
    reservedAt: iso(row.reserved_at),
    ...(row.sending_at === null ? {} : { sendingAt: iso(row.sending_at) }),
    ...(row.ended_at === null ? {} : { endedAt: iso(row.ended_at) }),
    ...(row.turned_away > 0 ? { turnedAway: row.turned_away } : {}),
    sent: sentOf(factsOf(row)),
    ...(row.answer === null ? {} : { answer: open('answer', row.answer) }),
    ...(row.rejection === null ? {} : { rejection: open('rejection', row.rejection) as Rejection }),
    ...(row.kept === null ? {} : { kept: open('kept', row.kept) as KeptAnswer }),
    ...(row.reason === null ? {} : { reason: open('reason', row.reason) as string }),
    ...(isErased(row) ? { erased: true } : {}),
  };
}

/** What decides what is known of its POSTs. */
const factsOf = (row: ClaimRow): ClaimFacts => ({
  ...NO_CLAIM,
  phase: row.phase,
  ordered: row.sends_ordered > 0,
  turnedAway: row.turned_away,
  sentAtMs: row.sending_at,
});

/** Of a claim that may not be there. */
export const stateOfRow = (row: ClaimRow | undefined): ClaimState =>
  stateOf(row === undefined ? NO_CLAIM : factsOf(row));

/** Both phases are written with what the service said. */
const isErased = ({ phase, answer, rejection }: ClaimRow): boolean =>
  (phase === 'answered' && answer === null) || (phase === 'rejected' && rejection === null);

function iso(ms: number): string {
  return new Date(ms).toISOString();
}

/** What an existing claim with our own fingerprint means for this attempt. */
export function reservationOf(claim: Claim, takenOver: boolean, isOrdered: boolean): Reservation {
  const sentBefore = isOrdered ? 'unknown' : claim.turnedAway === undefined ? undefined : 'turned-away';
  switch (claim.phase) {
    case 'reserved':
      return { kind: 'reserved', takenOver, ...(sentBefore === undefined ? {} : { sentBefore }) };
    case 'sending':
      return { kind: 'sending', since: claim.sendingAt ?? claim.reservedAt };
    case 'answered':
      return { kind: 'answered', answer: claim.answer, ...(sentBefore === undefined ? {} : { isRepeat: true }) };
    case 'rejected':
      return { kind: 'rejected', rejection: claim.rejection ?? { httpStatus: 0, message: '' } };
    case 'void':
      return { kind: 'void', reason: claim.reason ?? '', sent: claim.sent };
    default:
      return claim.phase satisfies never;
  }
}

export const OF_KEY = `account = ? AND operation = ? AND reference = ?`;
/** Another send of it was ordered, so it was in `sending` before. */
export const SENDS_ORDERED = `(SELECT COUNT(*) FROM claim_orders o
    WHERE o.account = claims.account AND o.operation = claims.operation AND o.reference = claims.reference
    AND o.action = 'send-again')`;
export const SELECT_ANY = `SELECT claims.*, ${SENDS_ORDERED} AS sends_ordered FROM claims`;
export const SELECT = `${SELECT_ANY} WHERE ${OF_KEY}`;

/** An earlier POST of it was answered, or may have been executed: another send is a repeat. */
export const SENT_BEFORE = `(claims.turned_away > 0 OR ${SENDS_ORDERED} > 0)`;

/** A caller that names no epoch belongs to the current one; one that names no time means all of it. */
export const LATEST = Number.MAX_SAFE_INTEGER;
/** For a missing claim: it may have existed, and been sent, if its flow was prepared in an earlier epoch. */
export const unlessEarlier = (phase: 'reserved' | 'void') =>
  `CASE WHEN (SELECT epoch FROM deployment) > ? THEN 'sending' ELSE '${phase}' END`;

export function values({ account, operation, reference }: ClaimKey): string[] {
  return [account, operation, reference];
}

export function rowOf(result: StepResult | undefined): ClaimRow | undefined {
  return result?.rows[0] as unknown as ClaimRow | undefined;
}
