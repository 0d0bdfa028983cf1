import { activitiesOn, createCardActivities, type ActivityDeps } from '../../../activities/index.js';
import { QUEUES, taskQueueOf } from '../../../src/protocol/task-queues.js';
import type { FlowReport } from '../../../src/api/flow.js';
import type { Chance } from '../../sim/core/chance.js';
import { createProcess } from '../../sim/core/process.js';
import type { Trace } from '../../sim/core/trace.js';
import { createSimClient } from '../../sim/temporal/client.js';
import { isOpen, type Run } from '../../sim/temporal/run.js';
import { createTemporalServer, MAIN_QUEUE } from '../../sim/temporal/server.js';
import { workflowsOf } from '../../sim/workflows.js';
import type { TestTemporal, TestWorker } from '../temporal.js';
import { createPacedTimeline } from './paced-timeline.js';

const notYet = new Error('its workflow task comes first');

/** By the path of their bundle. */
const workflows = new Map<string, ReturnType<typeof workflowsOf>>();

/**
 * The simulation's model of Temporal, prompt and without faults, in this process: real workflows and real activities,
 * which call real services and stores. Time is real for those, and is skipped while a test waits for a result or lets
 * time pass, as soon as no activity runs.
 */
export function openVirtualTemporal(bundle: string = process.env['TEST_WORKFLOW_BUNDLE'] ?? ''): TestTemporal {
  const vms = workflows.get(bundle) ?? workflowsOf(bundle);
  workflows.set(bundle, vms);
  const waiting = new Set<{ readonly workflowId: string; settle(run: Run): void; fail(error: unknown): void }>();
  const broken: unknown[] = [];
  const timeline = createPacedTimeline(
    (error) => {
      broken.push(error);
      for (const one of waiting) one.fail(error);
    },
    () => underWay(server.runs),
  );
  const trace = process.env['STACK_LOG'] ? spoken : silent;
  const chance = promptChance();
  const server = createTemporalServer({
    timeline,
    trace,
    chance,
    vms,
    isTaskLost: () => false,
    completionFault: () => 'none',
    isHeartbeatLost: () => false,
    closed(run) {
      if (run.status === 'CONTINUED_AS_NEW') return;
      for (const one of waiting) {
        if (one.workflowId !== run.workflowId) continue;
        waiting.delete(one);
        one.settle(run);
      }
    },
  });

  /** In turn with everything else that happens to the server. */
  const ask = <T>(_label: string, work: () => T | Promise<T>) =>
    new Promise<T>((resolve, reject) => {
      const turn = async (): Promise<void> => {
        try {
          if (broken.length > 0) throw broken[0];
          resolve(await work());
        } catch (error) {
          if (error === notYet) timeline.in(1, turn);
          else reject(error);
        }
      };
      timeline.in(0, turn);
    });

  function closed(workflowId: string): Promise<Run> {
    const run = server.current(workflowId);
    if (run !== undefined && !isOpen(run)) return Promise.resolve(run);
    const wanted = new Promise<Run>((settle, fail) => {
      waiting.add({ workflowId, settle, fail });
    });
    return timeline.skipUntil(wanted);
  }

  // As on a real server, a question waits for the workflow task that is due.
  const query: typeof server.query = (workflowId, name) => {
    const run = server.current(workflowId);
    if (run !== undefined && isOpen(run) && (run.isQueued || run.turns.length === 0)) throw notYet;
    return server.query(workflowId, name);
  };

  const client = createSimClient({
    server: { ...server, query },
    ask,
    closed,
    after(ms, work) {
      const timer = setTimeout(work, ms).unref();
      return () => clearTimeout(timer);
    },
  });

  let workers = 0;
  function work(queue: string, activities: object): Promise<TestWorker> {
    workers += 1;
    const worker = createProcess({ name: `worker-${workers}`, timeline, trace, isDaemon: false });
    const ended = new Promise<void>((resolve) => worker.whenDead(resolve));
    const counted = Object.entries(activities as Record<string, (argument: unknown) => Promise<unknown>>).map(
      ([name, activity]) => [name, (argument: unknown) => timeline.whileBusy(() => activity(argument))] as const,
    );
    server.addWorker({ process: worker, queue, activities: Object.fromEntries(counted), client });
    return Promise.resolve({
      ended,
      shutdown() {
        worker.crash('shut down');
        return ended;
      },
    });
  }

  return {
    client,
    address: '',
    nowMs: () => Math.floor(timeline.nowMs),
    async pass(ms) {
      await timeline.pass(ms);
      const late = await ask('pass', () => runningPastDeadline(server, timeline.nowMs));
      if (late.length > 0) throw new Error(`I14: running past their deadline: ${late.join(', ')}`);
    },
    async worker(deps: ActivityDeps, { queues = QUEUES } = {}) {
      const workers = await Promise.all(
        queues.map((queue) => work(taskQueueOf(MAIN_QUEUE, queue), activitiesOn(deps, queue))),
      );
      const ended = Promise.all(workers.map((worker) => worker.ended)).then(() => undefined);
      return { ended, shutdown: async () => void (await Promise.all(workers.map((worker) => worker.shutdown()))) };
    },
    cardWorker: (deps, cards) => work(cards.queue, createCardActivities(deps, cards)),
    async close() {
      await timeline.close();
      await server.dispose();
    },
  };
}

/** Workflow tasks that are due and activities that run: each is over before anything far ahead comes. */
const underWay = (runs: readonly Run[]): readonly string[] =>
  runs
    .filter(isOpen)
    .flatMap((run) => [
      ...(run.isQueued ? [`a workflow task of ${run.workflowId}`] : []),
      ...[...run.activities.values()]
        .filter(({ token, isDone }) => token !== undefined && !isDone)
        .map(({ type }) => `${type} of ${run.workflowId}`),
    ]);

/** At its deadline a flow checks the status once more, and stops its current step; ms. */
const PAST_DEADLINE_MS = 30 * 60_000;

/** I14: no flow runs on past its deadline: it has ended, or it waits for a person. */
async function runningPastDeadline(server: ReturnType<typeof createTemporalServer>, nowMs: number) {
  const late: string[] = [];
  for (const run of server.runs) {
    if (!isOpen(run) || run.isQueued || run.turns.length === 0 || run.type === 'callbackDelivery') continue;
    const { view } = (await server.query(run.workflowId, 'flow')) as FlowReport;
    if (view.state === 'running' && nowMs - Date.parse(view.deadlineAt ?? '') > PAST_DEADLINE_MS)
      late.push(run.workflowId);
  }
  return late;
}

/**
 * The first and shortest of everything, so that a test decides what happens; but each run has its own random numbers.
 */
function promptChance(): Chance {
  let drawn = 0;
  return {
    next: () => 0,
    int(from, to) {
      drawn += 1;
      return to - from > 1_000_000 ? from + drawn : from;
    },
    yes: (probability) => probability > 0.5,
    one([first]) {
      if (first === undefined) throw new Error('nothing to choose from');
      return first;
    },
  };
}

const silent: Trace = { lines: [], faults: new Map(), add: () => undefined, fault: () => undefined };
const spoken: Trace = {
  ...silent,
  add: (actor, step, result = '') => process.stderr.write(`${actor.padEnd(10)} ${step} → ${result}\n`),
};
