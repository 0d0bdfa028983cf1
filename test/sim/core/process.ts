import type { Clock } from '../../../src/clock.js';
import type { Chance } from './chance.js';
import type { Timeline } from './timeline.js';
import type { Trace } from './trace.js';

/**
 * One operating-system process: its waits die with it. Its wall clock may be wrong; its monotonic one is not. A stopped
 * one (SIGSTOP) does nothing until it continues, and then with what it knew before.
 */
export interface Process {
  readonly name: string;
  readonly isAlive: boolean;
  readonly isStopped: boolean;
  readonly clock: Clock;
  crash(why: string): void;
  stopFor(ms: number): void;
  setWallClock(byMs: number): void;
  /** Runs `work` in this process: not at all once it is dead, later while it is stopped. */
  deliver(work: () => unknown): unknown;
  whenDead(work: () => void): void;
}

export function createProcess(deps: {
  readonly name: string;
  readonly timeline: Timeline;
  readonly trace: Trace;
  /** Timers of a process that only checks periodically keep no run alive. */
  readonly isDaemon: boolean;
}): Process {
  const { name, timeline, trace, isDaemon } = deps;
  const atEnd: (() => void)[] = [];
  let isAlive = true;
  let wallOffMs = 0;
  let stoppedUntilMs = 0;

  const self: Process = {
    name,
    get isAlive() {
      return isAlive;
    },
    get isStopped() {
      return stoppedUntilMs > timeline.nowMs;
    },
    clock: {
      nowMs: () => timeline.nowMs + wallOffMs,
      monotonicMs: () => timeline.nowMs,
      after(ms, work) {
        const planned = timeline.in(ms, () => self.deliver(work), isDaemon);
        return () => planned.cancel();
      },
    },
    crash(why) {
      if (!isAlive) return;
      isAlive = false;
      trace.add(name, 'CRASH', why);
      for (const work of atEnd.splice(0)) work();
    },
    stopFor(ms) {
      stoppedUntilMs = Math.max(stoppedUntilMs, timeline.nowMs + ms);
      trace.add(name, 'STOPPED', `${ms} ms`);
    },
    setWallClock(byMs) {
      wallOffMs = byMs;
      trace.add(name, 'wall clock', `${byMs} ms off`);
    },
    deliver(work) {
      if (!isAlive) return undefined;
      if (!self.isStopped) return work();
      timeline.at(stoppedUntilMs, () => self.deliver(work));
      return undefined;
    },
    whenDead: (work) => void atEnd.push(work),
  };
  return self;
}

/** How one call from a process to something outside goes wrong. */
export type CallFault =
  | 'none'
  /** The caller dies before it was done. */
  | 'crash-before'
  /** It is done, and the caller dies before it knows. */
  | 'crash-after'
  /** Not done, and the caller gets an error. */
  | 'fails-before'
  /** Done, and the caller gets an error. */
  | 'fails-after';

export interface Call<T> {
  readonly label: string;
  readonly fault: CallFault;
  readonly work: () => T | Promise<T>;
  readonly error: () => Error;
  /** For the trace. */
  readonly shown?: (result: T) => string;
}

/** Polls of dispatcher and settler. */
const isIdle = (label: string): boolean => label === 'lease' || label === 'unsettledFlows';

/** One call out of a process, with a yield point before it is done and another before its answer is there. */
export function call<T>(
  deps: { readonly timeline: Timeline; readonly trace: Trace; readonly chance: Chance },
  process: Process,
  { label, fault, work, error, shown }: Call<T>,
): Promise<T> {
  const { timeline, trace, chance } = deps;
  const pauseMs = () => (chance.yes(0.9) ? chance.int(0, 5) : chance.int(5, 400));
  if (fault !== 'none') trace.fault(`${fault} ${label.split(' ')[0] ?? ''}`);
  return new Promise<T>((resolve, reject) => {
    const answer = (say: () => void) => timeline.in(pauseMs(), () => process.deliver(say));
    const begin = async (): Promise<void> => {
      if (fault === 'crash-before') return process.crash(`before ${label}`);
      if (fault === 'fails-before') {
        trace.add(process.name, label, 'FAILS, not done');
        return void answer(() => reject(error()));
      }
      try {
        const result = await work();
        if (fault !== 'none' || !isIdle(label))
          trace.add(process.name, label, (shown?.(result) ?? '') + (fault === 'fails-after' ? ' DONE, BUT FAILS' : ''));
        if (fault === 'crash-after') return process.crash(`after ${label}`);
        answer(() => (fault === 'fails-after' ? reject(error()) : resolve(result)));
      } catch (problem) {
        const problemFound = problem as Error;
        trace.add(process.name, label, `error ${problemFound.name}: ${problemFound.message}`.slice(0, 160));
        answer(() => reject(problemFound));
      }
    };
    timeline.in(pauseMs(), () => process.deliver(begin));
  });
}
