import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../database.js';
import type { Exchange } from '../exchange.js';
import type { JobKind, Scheduler } from '../scheduler.js';
import type { FaultLog } from './fault-log.js';
import type { FaultRules, Hit } from './fault-rules.js';
import { type FaultTools, INJECT } from './inject.js';

export const LATE_COMMIT_JOB = 'late-commit';

interface LateCommit {
  readonly operation: string;
  readonly call: unknown;
  readonly logId: number;
}

export interface Faults {
  /** Answers a request: honestly, or by the rule that it runs into. */
  respond(exchange: Exchange): Promise<void>;
  readonly job: JobKind;
}

export function createFaults(deps: {
  database: Database;
  scheduler: Pick<Scheduler, 'schedule'>;
  rules: FaultRules;
  log: FaultLog;
  /** Carries the operation out; true if that executed something. Inside `database.write`. */
  execute: (operation: string, call: unknown) => boolean;
}): Faults {
  const { database, scheduler, rules, log, execute } = deps;

  const entry = (exchange: Exchange, { ruleId, rule }: Hit, committed: boolean, detail = '') => {
    const { operation, reference } = exchange;
    return log.add({ ruleId, operation, reference, kind: rule.kind, committed, detail });
  };
  const tools: FaultTools = {
    commit: (exchange, hit, detail) => exchange.commit(({ executed }) => void entry(exchange, hit, executed, detail)),
    logOnly: (exchange, hit, detail) => database.write(() => void entry(exchange, hit, false, detail)),
    commitLater: (exchange, hit, delayMs) =>
      database.write(() => {
        const logId = entry(exchange, hit, false, `${delayMs} ms later`);
        const { operation, call } = exchange;
        scheduler.schedule(LATE_COMMIT_JOB, delayMs, { operation, call, logId } satisfies LateCommit);
      }),
    sleep: (ms) => sleep(ms, undefined, { ref: false }),
  };

  return {
    async respond(exchange) {
      const hit = rules.pick(exchange.operation, exchange.reference);
      if (hit === undefined) exchange.answer((await exchange.commit()).outcome);
      else await INJECT[hit.rule.kind](exchange, hit, tools);
    },
    job: {
      lane: 'commit',
      run({ operation, call, logId }: LateCommit) {
        if (execute(operation, call)) log.markCommitted(logId);
      },
    },
  };
}
