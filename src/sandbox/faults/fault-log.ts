import type { Clock } from '../clock.js';
import type { Database } from '../database.js';
import type { SandboxLogger } from '../logger.js';

export const FAULT_KINDS = [
  'fail-first',
  'rate-limited',
  'error-before',
  'error-after',
  'answer-lost',
  'reset-before',
  'late-commit',
  'garbage',
  'slow',
  'unauthorized',
  'duplicate-answer',
  'refused',
  'page',
] as const;

/** One injected fault, and the truth about it: whether the request was executed. */
interface Injection {
  readonly id: number;
  readonly ruleId: number;
  readonly at: string;
  readonly operation: string;
  readonly reference: string;
  readonly kind: FaultKind;
  /** True if the request that was hit wrote an execution to the books (for `late-commit`: by now). */
  readonly committed: boolean;
  readonly detail: string;
}

export interface FaultLog {
  /** Inside `database.write`, in the transaction of the commit that it reports. Gives the entry's id. */
  add(injection: Omit<Injection, 'id' | 'at'>): number;
  /** Inside `database.write`. */
  markCommitted(id: number): void;
  list(filter: { operation?: string | undefined; reference?: string | undefined }): readonly Injection[];
  countByRule(): ReadonlyMap<number, number>;
}

interface Row {
  readonly id: number;
  readonly rule_id: number;
  readonly at: number;
  readonly operation: string;
  readonly reference: string;
  readonly kind: FaultKind;
  readonly committed: number;
  readonly detail: string;
}

export function createFaultLog(deps: { database: Database; clock: Clock; logger: SandboxLogger }): FaultLog {
  const { database, clock, logger } = deps;
  return {
    add(injection) {
      const { ruleId, operation, reference, kind, committed, detail } = injection;
      logger.info(injection, 'fault injected');
      return database.run(
        `INSERT INTO fault_log (rule_id, at, operation, reference, kind, committed, detail)
         VALUES (?, ?, ?, ?, ?, ?, ?)`,
        ruleId,
        clock.now(),
        operation,
        reference,
        kind,
        committed ? 1 : 0,
        detail,
      ).id;
    },
    markCommitted(id) {
      database.run('UPDATE fault_log SET committed = 1 WHERE id = ?', id);
    },
    list({ operation, reference }) {
      const rows = database.all<Row>(
        `SELECT * FROM fault_log
         WHERE (?1 IS NULL OR operation = ?1) AND (?2 IS NULL OR reference = ?2) ORDER BY id`,
        operation ?? null,
        reference ?? null,
      );
      return rows.map(({ id, rule_id, at, operation, reference, kind, committed, detail }) => ({
        id,
        ruleId: rule_id,
        at: clock.iso(at),
        operation,
        reference,
        kind,
        committed: committed === 1,
        detail,
      }));
    },
    countByRule() {
      const rows = database.all<{ rule_id: number; n: number }>(
        'SELECT rule_id, COUNT(*) AS n FROM fault_log GROUP BY rule_id',
      );
      return new Map(rows.map(({ rule_id, n }) => [rule_id, n]));
    },
  };
}

export type FaultKind = (typeof FAULT_KINDS)[number];
