import type { Clock } from '../clock.js';
import type { Database } from '../database.js';
import type { Notes } from '../notes.js';
import { TABLES } from '../schema.js';
import { type Endpoint, endpoint } from './endpoint.js';

/** Everything back to the beginning: records, books, jobs, faults, settings and clock. */
export function createResetEndpoint(deps: {
  database: Database;
  notes: Notes;
  clock: Clock;
  /** What keeps something in memory forgets it. */
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
        // Ids of faults begin at 1 again: they decide what the seed draws. Those of jobs do not: what is still under
        // way would be taken for what comes after.
        database.run("DELETE FROM sqlite_sequence WHERE name = 'fault_rules'");
        notes.forget();
        clock.reset();
        forget();
      });
      return { reset: true };
    },
  });
}
