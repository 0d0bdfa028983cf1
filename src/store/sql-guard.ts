import type { ContradictionGuard } from './claim.js';
import type { Dialect } from './sql-connection.js';
import type { SqlValue, Step, StepResult } from './sql-message.js';
import { VOUCHED } from '../protocol/events.js';
import { referenceOfFlow } from '../protocol/vocabulary.js';

/** What the inbox may hold against a decision about a claim, read in the transaction that carries the decision out. */
export interface GuardSql {
  /** The condition under which the decision may be carried out, with `params`. */
  allows(guard: ContradictionGuard): string;
  params(guard: ContradictionGuard): readonly SqlValue[];
  /** For `waitsToBeMatched`. */
  countToMatch(guard: ContradictionGuard): Step;
}

export function guardSql({ elements }: Dialect): GuardSql {
  const unlessProven = ({ orUntrusted = false }: ContradictionGuard) => (orUntrusted ? '' : 'AND proof IS NOT NULL');

  // A row that a person vouched for is another event than the one that it was before.
  const contradiction = (guard: ContradictionGuard) =>
    `EXISTS (SELECT 1 FROM inbox WHERE flow_id = ? ${unlessProven(guard)}
     ${guard.untaken === true ? `AND state IN ('waiting', 'delivered')` : ''}
     ${guard.statuses === undefined ? '' : `AND UPPER(status) IN (SELECT value FROM ${elements}(?))`}
     AND CASE WHEN proof = 'person' THEN id || '${VOUCHED}' ELSE id END NOT IN (SELECT value FROM ${elements}(?)))`;

  // One of them may be an event of the flow.
  const toMatch = (guard: ContradictionGuard) =>
    `(SELECT COUNT(*) FROM inbox WHERE flow_id IS NULL AND state = 'waiting' AND reference = ? ${unlessProven(guard)})`;

  return {
    allows: (guard) => `NOT ${contradiction(guard)} AND ${toMatch(guard)} = 0`,
    params: (guard) => [
      guard.flowId,
      ...(guard.statuses === undefined ? [] : [JSON.stringify(guard.statuses.map((word) => word.toUpperCase()))]),
      JSON.stringify(guard.besides ?? []),
      referenceOfFlow(guard.flowId),
    ],
    countToMatch: (guard) => ({ sql: `SELECT ${toMatch(guard)} AS to_match`, params: [referenceOfFlow(guard.flowId)] }),
  };
}

/** True if a webhook is not matched yet. */
export const waitsToBeMatched = (counted: StepResult | undefined): boolean =>
  Number(counted?.rows[0]?.['to_match'] ?? 0) > 0;
