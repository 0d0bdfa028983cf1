import { NO_LAST_WORDS } from './claim.js';

/*
 * Which claims each step may change, as conditions of its compare-and-set.
 */

export const LAST_WORDS = `FROM claim_orders o
    WHERE o.account = claims.account AND o.operation = claims.operation AND o.reference = claims.reference
    AND o.action NOT IN (${NO_LAST_WORDS.map((action) => `'${action}'`).join(', ')})`;
/** A person decided how its flow ended. */
export const ENDED_BY_ORDER = `EXISTS (SELECT 1 ${LAST_WORDS})`;

/** Not sent after the given time; in a restored store it is unknown when it was sent. */
const SENT_UNTIL = `COALESCE(sending_at, reserved_at) <= ?`;

/** By another attempt, which may then send. */
export const CAN_BE_TAKEN_OVER = `claims.phase = 'reserved'`;
/**
 * The new owner is not the old one, which may still wake up; and the order is none that was carried out before.
 * Parameters: the new owner, until when it was sent, and the id of the order, or null.
 */
export const CAN_BE_SENT_AGAIN = `phase = 'sending' AND owner <> ? AND NOT ${ENDED_BY_ORDER} AND ${SENT_UNTIL}
    AND NOT EXISTS (SELECT 1 FROM claim_orders o WHERE o.account = claims.account AND o.operation = claims.operation
      AND o.reference = claims.reference AND o.order_id = ?)`;
/** The order of which the note is sealed so is recorded: its seal is its own. Parameter: the sealed note. */
export const WAS_RECORDED = `EXISTS (SELECT 1 FROM claim_orders o WHERE o.account = claims.account
    AND o.operation = claims.operation AND o.reference = claims.reference AND o.note = ?)`;
/** Every other phase is corrected by an answer, however late it comes. */
export const CAN_BE_ANSWERED = `phase <> 'answered'`;
/** By a person, as not executed. Parameter: until when it was sent. */
export const CAN_BE_CLOSED = `(phase = 'reserved' OR (phase = 'sending' AND ${SENT_UNTIL}))`;

/** How many claims of a flow were sent after a given time. Parameters: the flow's id, and that time. */
export const UNDER_WAY = `(SELECT COUNT(*) FROM claims
    WHERE flow_id = ? AND phase = 'sending' AND COALESCE(sending_at, reserved_at) > ?)`;
