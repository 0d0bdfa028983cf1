import { z } from 'zod';
import type { Deposits } from '../bridge/deposits.js';
import type { Clock } from '../clock.js';
import type { Deliveries } from '../deliveries/deliveries.js';
import type { History } from '../history.js';
import type { Executions, Ledger } from '../ledger.js';
import { unknownReference } from '../refusal.js';
import type { Scheduler } from '../scheduler.js';
import { type LiveSettings, shownSettings } from '../settings.js';
import type { Transactions } from '../transactions/transactions.js';
import type { Database, KeyValue } from '../database.js';
import { TABLES } from '../schema.js';
import { type Endpoint, endpoint } from './endpoint.js';

const ByReference = z.strictObject({ reference: z.string().optional() });

/** The service's state, for people and for reconcilers. */
export function createInspectEndpoints(deps: {
  deposits: Deposits;
  transactions: Transactions;
  history: History;
  executions: Executions;
  ledger: Ledger;
  deliveries: Deliveries;
  scheduler: Scheduler;
  clock: Clock;
  settings: LiveSettings;
}): Endpoint[] {
  const { deposits, transactions, history, executions, ledger, deliveries, scheduler, clock, settings } = deps;
  return [
    endpoint({
      method: 'GET',
      path: '/state',
      summary: 'Counts of what there is, the clock and the settings',
      handle: () => ({
        clock: { now: clock.iso(), frozen: clock.frozen },
        settings: shownSettings(settings.current()),
        deposits: deposits.countByStatus(),
        transactions: transactions.count(),
        executions: executions.list({}).length,
        deliveries: deliveries.countByState(),
        waitingJobs: scheduler.waiting(),
      }),
    }),
    endpoint({
      method: 'GET',
      path: '/deposits/{reference}',
      summary: 'The bridge deposits of one reference, newest first, each with every status that it had',
      handle({ params: { reference = '' } }) {
        const found = deposits.ofReference(reference);
        if (found.length === 0) throw unknownReference('Bridge deposit', reference);
        return {
          reference,
          count: found.length,
          deposits: found.map(({ id, ...deposit }) => ({
            kotani_reference_id: id,
            ...deposit,
            history: history.of(id),
          })),
        };
      },
    }),
    endpoint({
      method: 'GET',
      path: '/executions',
      summary: 'How often an operation was executed for a reference: ?operation=&reference=',
      input: z.strictObject({ operation: z.string().optional(), reference: z.string().optional() }),
      handle({ input }) {
        const found = executions.list(input);
        return { count: found.length, executions: found };
      },
    }),
    endpoint({
      method: 'GET',
      path: '/ledger',
      summary: 'Entries with their postings, and the balance of every account: ?reference=',
      input: ByReference,
      handle: ({ input }) => ({ entries: ledger.entries(input.reference), balances: ledger.balances() }),
    }),
  ];
}

/** Everything back to the beginning: records, books, jobs, faults, settings and clock. */
export function createResetEndpoint(deps: {
  database: Database;
  notes: KeyValue;
  clock: Clock;
  /** Clears in-memory caches. */
  forget: () => void;
}): Endpoint {
  const { database, notes, clock, forget } = deps;
  return endpoint({
    method: 'POST',
    path: '/reset',
    summary: 'Forgets everything, settings, faults and clock included',
    async handle() {
      await database.write(() => {
        for (const table of TABLES) database.run(`DELETE FROM ${table}`);
        // Ids of faults begin at 1 again: they decide what the seed draws. Ids of jobs do not: a job in progress would
        // be taken for a later one.
        database.run("DELETE FROM sqlite_sequence WHERE name = 'fault_rules'");
        notes.forget();
        clock.reset();
        forget();
      });
      return { reset: true };
    },
  });
}
