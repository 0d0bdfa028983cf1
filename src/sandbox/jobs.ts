import type { Clock } from './clock.js';
import type { Database } from './database.js';

/** `commit` jobs change state, `send` jobs talk to somebody. */
export type Lane = 'commit' | 'send';

export interface Job {
  readonly id: number;
  readonly lane: Lane;
  readonly due_at: number;
  readonly kind: string;
  readonly payload: string;
}

/** What is to happen later, on disk. */
export interface Jobs {
  /** Inside `database.write`, as `remove` and `postpone`. */
  add(lane: Lane, kind: string, delayMs: number, payload: unknown): number;
  /** False where it was gone already. */
  remove(id: number): boolean;
  postpone(id: number, delayMs: number): void;
  get(id: number): Job | undefined;
  /** The first ones due by then, in order. */
  due(lane: Lane, until: number, limit: number): readonly Job[];
  /** When the next one is due after `now`; Infinity where there is none. */
  nextAfter(now: number): number;
  count(): number;
}

export function createJobs(deps: { database: Database; clock: Clock }): Jobs {
  const { database, clock } = deps;

  // One question for each lane: the index is by lane and time, and SQLite reads a single row of it.
  const nextOf = (lane: Lane, now: number) =>
    database.get<{ at: number | null }>('SELECT MIN(due_at) AS at FROM jobs WHERE lane = ? AND due_at > ?', lane, now)
      ?.at ?? Infinity;

  return {
    add: (lane, kind, delayMs, payload) =>
      database.run(
        'INSERT INTO jobs (lane, due_at, kind, payload) VALUES (?, ?, ?, ?)',
        lane,
        clock.now() + delayMs,
        kind,
        JSON.stringify(payload),
      ).id,
    remove: (id) => database.run('DELETE FROM jobs WHERE id = ?', id).changes === 1,
    postpone(id, delayMs) {
      database.run('UPDATE jobs SET due_at = ? WHERE id = ?', clock.now() + delayMs, id);
    },
    get: (id) => database.get<Job>('SELECT * FROM jobs WHERE id = ?', id),
    due: (lane, until, limit) =>
      database.all<Job>(
        'SELECT * FROM jobs WHERE lane = ? AND due_at <= ? ORDER BY due_at, id LIMIT ?',
        lane,
        until,
        limit,
      ),
    nextAfter: (now) => Math.min(nextOf('commit', now), nextOf('send', now)),
    count: () => database.get<{ n: number }>('SELECT COUNT(*) AS n FROM jobs')?.n ?? 0,
  };
}
