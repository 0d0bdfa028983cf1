import { isDeepStrictEqual } from 'node:util';
import type { Process } from '../core/process.js';
import { durationMs, fromFailure, timestamp, toPayload } from './payloads.js';
import type { Command, Job, Run, Turn } from './run.js';
import type { WorkflowVm, WorkflowVms } from './vm.js';

/** Runs workflow tasks in the SDK's sandbox; one that lost its sandbox is replayed from its turns. */
export function createWorkflowTasks(deps: {
  readonly vms: WorkflowVms;
  readonly queue: string;
  readonly nowMs: () => number;
}) {
  async function vmOf(run: Run, process: Process): Promise<WorkflowVm> {
    if (run.vm?.holder.isAlive === true) return run.vm.workflow;
    const { workflowId, runId, firstRunId, type, seed } = run;
    const startMs = run.turns[0]?.atMs ?? deps.nowMs();
    const info = {
      workflowId,
      runId,
      firstRunId,
      workflowType: type,
      taskQueue: deps.queue,
      startMs,
      randomnessSeed: seed,
    };
    const workflow = await deps.vms.create(info);
    for (const [index, turn] of run.turns.entries()) {
      // What an earlier run has decided may have its run id in it; Core compares only what is begun.
      const shape = index < run.keptTurns ? commandName : comparable;
      const again = await activate(run, workflow, { ...turn, jobs: [...patchesOf(turn), ...turn.jobs] }, true);
      if (!isDeepStrictEqual(again.map(shape), turn.commands.map(shape))) {
        throw new Error(`${run.workflowId} is not deterministic: ${turn.commands.map(commandName).join()} became ${again.map(commandName).join()}`); // prettier-ignore
      }
    }
    run.vm = { workflow, holder: process };
    return workflow;
  }

  async function activate(
    run: Run,
    workflow: WorkflowVm,
    turn: Pick<Turn, 'atMs' | 'jobs'>,
    isReplaying: boolean,
  ): Promise<readonly Command[]> {
    const { successful, failed } = await workflow.activate({
      runId: run.runId,
      timestamp: timestamp(turn.atMs),
      isReplaying,
      historyLength: 3 + run.turns.length * 5,
      jobs: [...turn.jobs],
      availableInternalFlags: ALL_FLAGS,
    });
    // A real server retries a failed workflow task for ever: here it is a bug, and is shown.
    if (failed) throw new Error(`a workflow task of ${run.workflowId} failed: ${describe(fromFailure(failed.failure ?? {}))}`); // prettier-ignore
    return successful?.commands ?? [];
  }

  return { vmOf, activate };
}

/** The first job of a run. */
export const initialize = (run: Run): Job => ({
  initializeWorkflow: {
    workflowType: run.type,
    workflowId: run.workflowId,
    arguments: [...run.args],
    headers: {},
    attempt: 1,
    firstExecutionRunId: run.firstRunId,
    startTime: timestamp(run.startedAtMs),
    memo: { fields: Object.fromEntries(Object.entries(run.memo).map(([name, value]) => [name, toPayload(value)])) },
  },
});

/** What is begun and not ended after these turns: timers by when they fire, activities by their commands. */
export function openAt(turns: readonly Turn[]) {
  const timers = new Map<number, number>();
  const waiting = new Map<number, Command>();
  for (const { atMs, jobs, commands } of turns) {
    for (const { fireTimer, resolveActivity } of jobs) {
      if (fireTimer) timers.delete(Number(fireTimer.seq));
      if (resolveActivity) waiting.delete(Number(resolveActivity.seq));
    }
    for (const command of commands) {
      const { startTimer, cancelTimer, scheduleActivity, scheduleLocalActivity } = command;
      if (startTimer) timers.set(Number(startTimer.seq), atMs + (durationMs(startTimer.startToFireTimeout) ?? 0));
      if (cancelTimer) timers.delete(Number(cancelTimer.seq));
      const scheduled = scheduleActivity ?? scheduleLocalActivity;
      if (scheduled) waiting.set(Number(scheduled.seq), command);
    }
  }
  return { timers, waiting };
}

/**
 * The jobs that a reset run begins with: what was there before the repeated task began, and of what came later what
 * Temporal applies again.
 */
export function jobsAgain(
  kept: readonly Turn[],
  repeated: Turn,
  later: readonly Turn[],
  pending: readonly Job[],
): readonly Job[] {
  const begun = kept.flatMap(({ commands }) => commands);
  const isBegun = ({ resolveChildWorkflowExecutionStart: child, resolveSignalExternalWorkflow: sent }: Job): boolean =>
    (child != null && begun.some((command) => command.startChildWorkflowExecution?.seq === child.seq)) ||
    (sent != null && begun.some((command) => command.signalExternalWorkflowExecution?.seq === sent.seq));
  const accepted = new Set(
    [repeated, ...later]
      .flatMap(({ commands }) => commands)
      .flatMap(({ updateResponse }) => (updateResponse?.accepted ? [updateResponse.protocolInstanceId] : [])),
  );
  const afterwards = [...later.flatMap(({ jobs }) => jobs), ...pending];
  return [
    ...repeated.jobs.filter((job) => !job.updateRandomSeed && !job.doUpdate),
    ...[...repeated.jobs, ...afterwards].filter(
      ({ doUpdate }) => doUpdate && accepted.has(doUpdate.protocolInstanceId),
    ),
    ...afterwards.filter((job) => job.signalWorkflow ?? job.cancelWorkflow ?? isBegun(job)),
  ];
}

/** Every flag that the SDK knows: a real server accepts what this SDK version writes. */
const ALL_FLAGS = [1, 2, 3, 4, 5, 6];

const variantOf = (holder: object): string => {
  const own = Object.entries(holder).find(([name, value]) => value != null && name !== 'userMetadata' && typeof value === 'object' && !(Array.isArray(value) && value.length === 0)); // prettier-ignore
  return own?.[0] ?? 'nothing';
};

export function commandName(command: Command): string {
  const what = command.scheduleActivity ?? command.scheduleLocalActivity;
  return what?.activityType ?? variantOf(command);
}

export function jobName(job: Job): string {
  if (job.resolveActivity) return `${variantOf(job.resolveActivity.result ?? {})} activity ${job.resolveActivity.seq}`;
  return job.signalWorkflow?.signalName ?? job.doUpdate?.name ?? variantOf(job);
}

/** Core looks ahead in a history, and reports its patches. */
const patchesOf = ({ commands }: Turn): readonly Job[] =>
  commands.flatMap(({ setPatchMarker }) =>
    setPatchMarker ? [{ notifyHasPatch: { patchId: setPatchMarker.patchId ?? '' } }] : [],
  );

/** What a replay must give again: failures carry stack traces, which may differ. */
const comparable = (command: Command): unknown =>
  JSON.parse(JSON.stringify(command, (name, value: unknown) => (name === 'stackTrace' ? undefined : value)));

const describe = (error: Error): string => `${error.message}\n${String(error.stack).slice(-2_000)}`;
