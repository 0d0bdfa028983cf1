import type { Clock } from './clock.js';
import type { Database } from './database.js';

/** What moved a record: a request, its own time, a settlement report, or the control interface. */
export type Mover = 'request' | 'time' | 'report' | 'control';

export interface History {
  /** Inside `database.write`. */
  add(recordId: string, status: string, by: Mover): void;
  has(recordId: string, status: string): boolean;
  of(recordId: string): readonly { readonly status: string; readonly at: string; readonly by: Mover }[];
}

/** Every status a record ever had, in order. */
export function createHistory(deps: { database: Database; clock: Clock }): History {
  const { database, clock } = deps;
  return {
    add(recordId, status, by) {
      database.run(
        'INSERT INTO history (record_id, status, at, by) VALUES (?, ?, ?, ?)',
        recordId,
        status,
        clock.now(),
        by,
      );
    },
    has: (recordId, status) =>
      database.get('SELECT id FROM history WHERE record_id = ? AND status = ?', recordId, status) !== undefined,
    of: (recordId) =>
      database
        .all<{
          status: string;
          at: number;
          by: Mover;
        }>('SELECT status, at, by FROM history WHERE record_id = ? ORDER BY id', recordId)
        .map(({ status, at, by }) => ({ status, at: clock.iso(at), by })),
  };
}
