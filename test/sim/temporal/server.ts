import proto from '@temporalio/proto';
import type { Payload } from '@temporalio/common';
import type { Chance } from '../core/chance.js';
import type { Process } from '../core/process.js';
import type { Timeline } from '../core/timeline.js';
import type { Trace } from '../core/trace.js';
import { createActivityServer, type ActivityDeps, type ActivityWorker } from './activities.js';
import { PLAINTEXT } from '../../../src/protocol/plaintext-marker.js';
import { durationMs, fromPayload, type Failure } from './payloads.js';
import { inOrder, isOpen, type ActivityTask, type Command, type Job, type Run, type RunStatus, type StartOrder, type Turn } from './run.js'; // prettier-ignore
import { taskOf } from './activity-task.js';
import type { WorkflowVms } from './vm.js';
import type { TemporalServer } from './temporal-server.js';
import { commandName, createWorkflowTasks, initialize, jobName, jobsAgain, openAt } from './workflow-task.js';

export const MAIN_QUEUE = 'towline';
const { UpdateRandomSeed, WorkflowActivation } = proto.coresdk.workflow_activation;
const STATE_ATTRIBUTE = 'TowlineState';
const RESUMED = 'resumed';

export interface ServerDeps extends Omit<ActivityDeps, 'workersOf' | 'resolve'> {
  readonly timeline: Timeline;
  readonly trace: Trace;
  readonly chance: Chance;
  readonly vms: WorkflowVms;
  /** A worker that dies with a workflow task in its hands: what it had decided is lost. */
  readonly isTaskLost: (run: Run, worker: Process) => boolean;
  readonly closed: (run: Run) => void;
}

/** A small model of the Temporal server, event-sourced by run: what it promises, and nothing that it does not. */
export function createTemporalServer(deps: ServerDeps): TemporalServer {
  const { timeline, trace, chance } = deps;
  const runs: Run[] = [];
  const newest = new Map<string, Run>();
  const workers: ActivityWorker[] = [];
  let runNumber = 0;
  const workersOf = (queue: string) => workers.filter((worker) => worker.queue === queue);
  const { vmOf, activate } = createWorkflowTasks({ vms: deps.vms, queue: MAIN_QUEUE, nowMs: () => timeline.nowMs });
  const activities = createActivityServer({
    ...deps,
    workersOf,
    resolve: (task, job) => add(task.run, job),
  });

  /** @param base the run that it continues; by a reset, with its first turns */
  function open(order: StartOrder, base?: Run, kept: readonly Turn[] = []): Run {
    runNumber += 1;
    const run: Run = {
      workflowId: order.workflowId,
      runId: `run-${runNumber}`,
      firstRunId: base?.firstRunId ?? `run-${runNumber}`,
      type: order.type,
      args: order.args,
      memo: order.memo ?? {},
      startedAtMs: timeline.nowMs,
      seed: kept.length > 0 && base !== undefined ? base.seed : chance.int(1, 2 ** 31 - 1),
      status: 'RUNNING',
      closedAtMs: undefined,
      result: undefined,
      failure: undefined,
      attribute: undefined,
      cancelRequested: false,
      turns: [...kept],
      keptTurns: kept.length,
      pending: [],
      isQueued: false,
      vm: undefined,
      timers: new Map(),
      activities: new Map(),
      updates: new Map(),
    };
    runs.push(run);
    newest.set(order.workflowId, run);
    return run;
  }

  function start(order: StartOrder): Run | 'already-started' {
    if (newest.has(order.workflowId)) return 'already-started';
    const run = open(order);
    add(run, initialize(run));
    return run;
  }

  function add(run: Run, job: Job): void {
    if (!isOpen(run)) return;
    run.pending.push(job);
    queue(run);
  }

  function queue(run: Run): void {
    if (run.isQueued || run.pending.length === 0) return;
    run.isQueued = true;
    timeline.in(chance.yes(0.95) ? chance.int(1, 10) : chance.int(10, 3_000), () => takeTask(run));
  }

  function takeTask(run: Run): unknown {
    if (!isOpen(run)) return undefined;
    const ready = workersOf(MAIN_QUEUE).filter(({ process }) => process.isAlive && !process.isStopped);
    if (ready.length === 0) return timeline.in(200, () => takeTask(run), true);
    return work(run, chance.one(ready).process);
  }

  async function work(run: Run, process: Process): Promise<void> {
    const turn = { atMs: timeline.nowMs, jobs: inOrder(run.pending) };
    run.pending = [];
    const workflow = await vmOf(run, process);
    const commands = await activate(run, workflow, turn, false);
    if (deps.isTaskLost(run, process)) {
      trace.fault('crash in a workflow task');
      run.vm = undefined;
      run.pending = [...turn.jobs, ...run.pending];
      process.crash(`with a workflow task of ${run.workflowId}`);
      return void timeline.in(10_000, () => takeTask(run));
    }
    run.isQueued = false;
    run.turns.push({ ...turn, commands });
    trace.add(process.name, `task of ${run.workflowId}`, `${turn.jobs.map(jobName).join(' ')} → ${commands.map(commandName).join(' ')}`); // prettier-ignore
    for (const command of commands) apply(run, command, process);
    if (isOpen(run)) queue(run);
  }

  function apply(run: Run, command: Command, process: Process): void {
    const { startTimer, cancelTimer, scheduleActivity, scheduleLocalActivity } = command;
    const cancelled = command.requestCancelActivity ?? command.requestCancelLocalActivity;
    if (startTimer) return startOneTimer(run, Number(startTimer.seq), durationMs(startTimer.startToFireTimeout) ?? 0);
    if (cancelTimer) {
      run.timers.get(Number(cancelTimer.seq))?.cancel();
      return void run.timers.delete(Number(cancelTimer.seq));
    }
    if (scheduleActivity) return scheduleOne(run, taskOf(timeline.nowMs, MAIN_QUEUE, run, scheduleActivity, false));
    if (scheduleLocalActivity)
      return scheduleOne(run, taskOf(timeline.nowMs, MAIN_QUEUE, run, scheduleLocalActivity, true));
    if (cancelled) {
      const task = run.activities.get(Number(cancelled.seq));
      if (task !== undefined) activities.requestCancel(task);
      return undefined;
    }
    if (command.updateResponse) return respondToUpdate(run, command.updateResponse);
    if (command.startChildWorkflowExecution) return startChild(run, command.startChildWorkflowExecution);
    if (command.signalExternalWorkflowExecution) {
      const { seq, workflowExecution, signalName, args } = command.signalExternalWorkflowExecution;
      const isTaken = signal(workflowExecution?.workflowId ?? '', signalName ?? '', args ?? []);
      const failure: Failure = { message: 'no such workflow', applicationFailureInfo: { nonRetryable: true } };
      return add(run, { resolveSignalExternalWorkflow: { seq: seq ?? 0, ...(isTaken ? {} : { failure }) } });
    }
    if (command.upsertWorkflowSearchAttributes) return setAttribute(run, command.upsertWorkflowSearchAttributes);
    if (command.completeWorkflowExecution) {
      run.result = command.completeWorkflowExecution.result ?? undefined;
      return close(run, 'COMPLETED');
    }
    if (command.failWorkflowExecution) {
      run.failure = command.failWorkflowExecution.failure ?? undefined;
      return close(run, 'FAILED');
    }
    if (command.cancelWorkflowExecution) return close(run, 'CANCELLED');
    if (command.continueAsNewWorkflowExecution) return continueAsNew(run, command.continueAsNewWorkflowExecution);
    if (command.modifyWorkflowProperties) {
      const fields = Object.entries(command.modifyWorkflowProperties.upsertedMemo?.fields ?? {});
      run.memo = { ...run.memo, ...Object.fromEntries(fields.map(([name, value]) => [name, fromPayload(value)])) };
      return undefined;
    }
    if (command.setPatchMarker) return undefined;
    throw new Error(`the model has no ${commandName(command)} (${process.name})`);
  }

  function setAttribute(run: Run, upsert: NonNullable<Command['upsertWorkflowSearchAttributes']>): void {
    const value = fromPayload(upsert.searchAttributes?.indexedFields?.[STATE_ATTRIBUTE]);
    run.attribute = Array.isArray(value) ? (value[0] as string | undefined) : undefined;
  }

  function startOneTimer(run: Run, seq: number, ms: number): void {
    const fire = (): void => {
      run.timers.delete(seq);
      add(run, { fireTimer: { seq } });
    };
    run.timers.set(seq, timeline.in(ms, fire));
  }

  function scheduleOne(run: Run, task: ActivityTask): void {
    run.activities.set(task.seq, task);
    activities.schedule(task);
  }

  function respondToUpdate(run: Run, response: NonNullable<Command['updateResponse']>): void {
    const id = response.protocolInstanceId ?? '';
    const pending = run.updates.get(id);
    if (response.accepted) return pending?.accepted();
    run.updates.delete(id);
    if (response.rejected) return pending?.rejected(response.rejected);
    return pending?.completed(fromPayload(response.completed));
  }

  function startChild(run: Run, child: NonNullable<Command['startChildWorkflowExecution']>): void {
    const { seq, workflowId, workflowType, input } = child;
    const before = newest.get(workflowId ?? '');
    if (before !== undefined && isOpen(before)) {
      const failed = { workflowId: workflowId ?? '', workflowType: workflowType ?? '', cause: 1 };
      return add(run, { resolveChildWorkflowExecutionStart: { seq: seq ?? 0, failed } });
    }
    const started = open({ workflowId: workflowId ?? '', type: workflowType ?? '', args: input ?? [] });
    add(started, initialize(started));
    return add(run, { resolveChildWorkflowExecutionStart: { seq: seq ?? 0, succeeded: { runId: started.runId } } });
  }

  function continueAsNew(run: Run, command: NonNullable<Command['continueAsNewWorkflowExecution']>): void {
    const { pending } = run;
    close(run, 'CONTINUED_AS_NEW');
    const { workflowId, type, memo } = run;
    const next = open({ workflowId, type, args: command.arguments ?? [], memo }, run);
    next.attribute = run.attribute;
    add(next, initialize(next));
    for (const job of pending) if (job.signalWorkflow) add(next, job);
  }

  function close(run: Run, status: RunStatus): void {
    run.status = status;
    run.closedAtMs = timeline.nowMs;
    for (const timer of run.timers.values()) timer.cancel();
    for (const task of run.activities.values()) activities.drop(task);
    for (const update of run.updates.values()) update.gone();
    run.activities.clear();
    run.updates.clear();
    void run.vm?.workflow.dispose();
    run.vm = undefined;
    trace.add(
      'temporal',
      `${run.workflowId} closed`,
      `${status} ${run.failure?.applicationFailureInfo?.type ?? ''}`.trim(),
    );
    deps.closed(run);
  }

  function openRun(workflowId: string): Run | undefined {
    const run = newest.get(workflowId);
    return run !== undefined && isOpen(run) ? run : undefined;
  }

  function signal(workflowId: string, name: string, args: readonly Payload[]): boolean {
    const run = openRun(workflowId);
    if (run === undefined) return false;
    add(run, { signalWorkflow: { signalName: name, input: [...args], headers: {} } });
    return true;
  }

  return {
    runs,
    current: (workflowId) => newest.get(workflowId),
    start,
    signal,
    requestCancel(workflowId) {
      const run = openRun(workflowId);
      if (run === undefined) return false;
      if (!run.cancelRequested) add(run, { cancelWorkflow: {} });
      run.cancelRequested = true;
      return true;
    },
    update(workflowId, { id, name, args }, pending) {
      const run = openRun(workflowId);
      if (run === undefined) return false;
      run.updates.set(id, pending);
      const meta = { updateId: id, identity: 'sim' };
      add(run, {
        doUpdate: { id, protocolInstanceId: id, name, input: [...args], headers: {}, meta, runValidator: true },
      });
      return true;
    },
    async query(workflowId, name) {
      const run = newest.get(workflowId);
      const ready = workersOf(MAIN_QUEUE).filter(({ process }) => process.isAlive && !process.isStopped);
      const [worker] = ready;
      if (run === undefined || run.turns.length === 0 || worker === undefined) return undefined;
      const workflow = await vmOf(run, worker.process);
      const { successful } = await workflow.activate(
        WorkflowActivation.fromObject({
          runId: run.runId,
          jobs: [{ queryWorkflow: { queryId: 'q', queryType: name, arguments: [], headers: {} } }],
        }),
      );
      // One that is closed was replayed for this question alone.
      if (!isOpen(run)) {
        run.vm = undefined;
        await workflow.dispose();
      }
      return fromPayload(successful?.commands?.[0]?.respondToQuery?.succeeded?.response);
    },
    terminate(workflowId) {
      const run = openRun(workflowId);
      if (run !== undefined) close(run, 'TERMINATED');
      return run !== undefined;
    },
    resume(workflowId) {
      const base = newest.get(workflowId);
      if (base === undefined || isOpen(base)) return false;
      // As a worker reads what is not sealed.
      const memo = { ...base.memo, [RESUMED]: { [PLAINTEXT]: true } };
      const run = open({ workflowId, type: base.type, args: base.args.slice(0, 1), memo });
      add(run, initialize(run));
      return true;
    },
    reset(workflowId, turnNumber) {
      const base = newest.get(workflowId);
      const repeated = base?.turns[turnNumber];
      if (base === undefined || repeated === undefined || base.status === 'CONTINUED_AS_NEW') return undefined;
      const kept = base.turns.slice(0, turnNumber);
      const jobs = jobsAgain(kept, repeated, base.turns.slice(turnNumber + 1), base.pending);
      if (isOpen(base)) close(base, 'TERMINATED');
      const run = open({ workflowId, type: base.type, args: base.args, memo: base.memo }, base, kept);
      takeUp(run, repeated);
      for (const job of jobs) add(run, job);
      run.cancelRequested = jobs.some(({ cancelWorkflow }) => cancelWorkflow != null);
      add(run, { updateRandomSeed: UpdateRandomSeed.fromObject({ randomnessSeed: chance.int(1, 2 ** 31) }) });
      return run;
    },
    addWorker(worker) {
      workers.push(worker);
      worker.process.whenDead(() => workerDied(worker));
    },
    async dispose() {
      for (const run of runs) await run.vm?.workflow.dispose();
    },
  };

  /** What a reset run still waits for is started again: its timers and its activities that had no answer yet. */
  function takeUp(run: Run, repeated: Turn): void {
    for (const command of run.turns.flatMap(({ commands }) => commands))
      if (command.upsertWorkflowSearchAttributes) setAttribute(run, command.upsertWorkflowSearchAttributes);
    const { timers, waiting } = openAt([...run.turns, { ...repeated, commands: [] }]);
    for (const [seq, atMs] of timers) startOneTimer(run, seq, Math.max(0, atMs - timeline.nowMs));
    for (const { scheduleActivity, scheduleLocalActivity } of waiting.values()) {
      if (scheduleActivity) scheduleOne(run, taskOf(timeline.nowMs, MAIN_QUEUE, run, scheduleActivity, false));
      if (scheduleLocalActivity) scheduleOne(run, taskOf(timeline.nowMs, MAIN_QUEUE, run, scheduleLocalActivity, true));
    }
  }

  /** Its cached workflows are replayed elsewhere, and its local activities run again with their workflow task. */
  function workerDied(worker: ActivityWorker): void {
    for (const run of runs) {
      if (run.vm?.holder === worker.process) {
        void run.vm.workflow.dispose();
        run.vm = undefined;
      }
      for (const task of run.activities.values()) {
        if (task.isLocal && task.holder === worker.process) activities.again(task);
      }
    }
  }
}
