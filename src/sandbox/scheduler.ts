import type { Clock } from './clock.js';
import type { Database } from './database.js';
import type { Timers } from './timers.js';
import type { SandboxLogger } from './logger.js';

/**
 * Future work, kept on disk. A `commit` job changes state: it runs in the transaction that deletes it, so exactly once.
 * A `send` job calls a receiver: it runs outside, and its result is committed with its deletion, so at least once.
 */
export type JobKind =
  | { readonly lane: 'commit'; readonly run: (payload: never) => void }
  | { readonly lane: 'send'; readonly run: (payload: never) => Promise<() => void> };

export interface Scheduler {
  /** Inside `database.write`; gives the job's id. */
  schedule(kind: string, delayMs: number, payload: unknown): number;
  /** Runs one job now, whatever its time. */
  runNow(id: number): Promise<void>;
  /** Moves time on by `ms` and runs all that falls due on the way, one by one, in order. */
  advance(ms: number): Promise<void>;
  /** Time changed, or was set running: check again. */
  wake(): void;
  /** Jobs that wait. */
  waiting(): number;
  stop(): Promise<void>;
}

const MAX_SENDS = 64;
const MAX_COMMITS = 512;
const MAX_TIMER_MS = 60_000;
const RETRY_BROKEN_JOB_MS = 1_000;

export function createScheduler(deps: {
  database: Database;
  clock: Clock;
  kinds: Readonly<Record<string, JobKind>>;
  logger: SandboxLogger;
  timers: Timers;
}): Scheduler {
  const { database, clock, kinds, logger, timers } = deps;
  const jobs = createJobs({ database, clock });
  const running = new Map<number, Promise<void>>();
  let sends = 0;
  let stopTimer: (() => void) | undefined;
  let stopLooking: (() => void) | undefined;
  let stepping = false;
  let stopped = false;
  let advances: Promise<void> = Promise.resolve();

  async function perform(job: Job): Promise<void> {
    const kind = kinds[job.kind];
    if (kind === undefined) throw new Error(`no job kind ${job.kind}`);
    const payload = JSON.parse(job.payload) as never;
    // A reset may have deleted the job meanwhile: then its work is no longer wanted.
    const ifThere = (work: () => void) =>
      database.write(() => {
        if (jobs.remove(job.id)) work();
      });
    if (kind.lane === 'commit') return ifThere(() => kind.run(payload));
    return ifThere(await kind.run(payload));
  }

  function start(job: Job): Promise<void> {
    if (job.lane === 'send') sends += 1;
    const done = perform(job)
      .catch(async (error: unknown) => {
        if (stopped) return;
        logger.error(
          { kind: job.kind, payload: job.payload, error: String(error) },
          'a job failed, and is tried again',
        );
        await database.write(() => jobs.postpone(job.id, RETRY_BROKEN_JOB_MS));
      })
      .catch(() => undefined)
      .finally(() => {
        running.delete(job.id);
        if (job.lane === 'send') sends -= 1;
        scheduler.wake();
      });
    running.set(job.id, done);
    return done;
  }

  function look(): void {
    stopLooking = undefined;
    if (stopped || stepping) return;
    const now = clock.now();
    const found = [...jobs.due('commit', now, MAX_COMMITS), ...jobs.due('send', now, running.size + MAX_SENDS)];
    for (const job of found) {
      if (running.has(job.id) || (job.lane === 'send' && sends >= MAX_SENDS)) continue;
      void start(job);
    }
    arm(now);
  }

  function arm(now: number): void {
    stopTimer?.();
    if (clock.frozen) return;
    const dueAt = jobs.nextAfter(now);
    if (dueAt === Infinity) return;
    stopTimer = timers.after(Math.min(dueAt - now, MAX_TIMER_MS), () => scheduler.wake());
  }

  async function idle(): Promise<void> {
    while (running.size > 0) await Promise.all(running.values());
  }

  async function step(ms: number): Promise<void> {
    stepping = true;
    stopTimer?.();
    await idle();
    const wasFrozen = clock.frozen;
    clock.freeze();
    const until = clock.now() + ms;
    try {
      for (;;) {
        if (stopped) return;
        const [job] = [...jobs.due('commit', until, 1), ...jobs.due('send', until, 1)].sort(
          (one, other) => one.due_at - other.due_at || one.id - other.id,
        );
        if (job === undefined) break;
        clock.reach(job.due_at);
        await (running.get(job.id) ?? start(job));
      }
      clock.reach(until);
    } finally {
      if (!wasFrozen) clock.unfreeze();
      stepping = false;
      scheduler.wake();
    }
  }

  const scheduler: Scheduler = {
    schedule(kind, delayMs, payload) {
      const lane = kinds[kind]?.lane;
      if (lane === undefined) throw new Error(`no job kind ${kind}`);
      scheduler.wake();
      return jobs.add(lane, kind, delayMs, payload);
    },
    async runNow(id) {
      const job = jobs.get(id);
      if (job !== undefined) await (running.get(id) ?? start(job));
    },
    advance(ms) {
      const mine = advances.then(() => step(ms));
      advances = mine.catch(() => undefined);
      return mine;
    },
    wake() {
      if (!stopped && !stepping) stopLooking ??= timers.soon(look);
    },
    waiting: () => jobs.count(),
    async stop() {
      stopped = true;
      stopTimer?.();
      stopLooking?.();
      await idle();
    },
  };
  return scheduler;
}

/** `commit` jobs change state, `send` jobs call a receiver. */
type Lane = 'commit' | 'send';

interface Job {
  readonly id: number;
  readonly lane: Lane;
  readonly due_at: number;
  readonly kind: string;
  readonly payload: string;
}

/** Future work, on disk. */
interface Jobs {
  /** Inside `database.write`, as `remove` and `postpone`. */
  add(lane: Lane, kind: string, delayMs: number, payload: unknown): number;
  /** False if it was gone already. */
  remove(id: number): boolean;
  postpone(id: number, delayMs: number): void;
  get(id: number): Job | undefined;
  /** The first ones due by then, in order. */
  due(lane: Lane, until: number, limit: number): readonly Job[];
  /** When the next one is due after `now`; Infinity if there is none. */
  nextAfter(now: number): number;
  count(): number;
}

function createJobs(deps: { database: Database; clock: Clock }): Jobs {
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
