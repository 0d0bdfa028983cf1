import type { coresdk } from '@temporalio/proto';
import type { Payload } from '@temporalio/common';
import type { Process } from '../core/process.js';
import type { Planned } from '../core/timeline.js';
import type { Failure } from './payloads.js';
import type { WorkflowVm } from './vm.js';

export type Job = coresdk.workflow_activation.IWorkflowActivationJob;
export type Command = coresdk.workflow_commands.IWorkflowCommand;
export type RunStatus = 'RUNNING' | 'COMPLETED' | 'FAILED' | 'CANCELLED' | 'TERMINATED' | 'CONTINUED_AS_NEW';

/** One workflow task that was completed: replayed, it must give the same commands. */
export interface Turn {
  readonly atMs: number;
  readonly jobs: readonly Job[];
  readonly commands: readonly Command[];
}

/** A client's update until the workflow has answered it. */
export interface PendingUpdate {
  accepted(): void;
  rejected(failure: Failure): void;
  completed(result: unknown): void;
  /** The run closed before. */
  gone(): void;
}

export interface Run {
  readonly workflowId: string;
  readonly runId: string;
  /** Of the chain: continue-as-new and a reset keep it. */
  readonly firstRunId: string;
  readonly type: string;
  readonly args: readonly Payload[];
  memo: Readonly<Record<string, unknown>>;
  readonly startedAtMs: number;
  readonly seed: number;
  status: RunStatus;
  closedAtMs: number | undefined;
  /** Its result when it closed. */
  result: Payload | undefined;
  failure: Failure | undefined;
  /** The value of `TowlineState`. */
  attribute: string | undefined;
  cancelRequested: boolean;
  readonly turns: Turn[];
  /** Of these turns, so many were taken over from the run that was reset. */
  readonly keptTurns: number;
  /** Jobs since the last workflow task. */
  pending: Job[];
  isQueued: boolean;
  vm: { readonly workflow: WorkflowVm; readonly holder: Process } | undefined;
  readonly timers: Map<number, Planned>;
  readonly activities: Map<number, ActivityTask>;
  readonly updates: Map<string, PendingUpdate>;
}

/** An activity from its scheduling to its resolution. */
export interface ActivityTask {
  readonly run: Run;
  readonly seq: number;
  readonly id: string;
  readonly type: string;
  readonly args: readonly Payload[];
  readonly queue: string;
  readonly isLocal: boolean;
  readonly scheduledAtMs: number;
  readonly limits: {
    readonly scheduleToClose: number | undefined;
    readonly scheduleToStart: number | undefined;
    readonly startToClose: number | undefined;
    readonly heartbeat: number | undefined;
  };
  readonly retry: {
    readonly initialMs: number;
    readonly coefficient: number;
    readonly maximumMs: number;
    readonly attempts: number;
    readonly finalTypes: readonly string[];
  };
  /** 0: at once, 1: when it ended, 2: given up without a word. */
  readonly cancellationType: number;
  attempt: number;
  attemptScheduledAtMs: number;
  /** Of the last heartbeat, for the next attempt. */
  heartbeatDetails: unknown;
  /** Names the attempt that may answer; undefined while none runs. */
  token: number | undefined;
  holder: Process | undefined;
  cancelRequested: boolean;
  isDone: boolean;
  readonly clocks: { start?: Planned | undefined; close?: Planned | undefined; beat?: Planned | undefined };
  retryAt: Planned | undefined;
}

export const isOpen = ({ status }: Pick<Run, 'status'>): boolean => status === 'RUNNING';

/** Signals and updates before what they may race with, as Core orders the jobs of one activation. */
export function inOrder(jobs: readonly Job[]): Job[] {
  const rank = (job: Job): number => {
    if (job.initializeWorkflow) return 0;
    if (job.notifyHasPatch) return 1;
    if (job.updateRandomSeed) return 2;
    if (job.signalWorkflow || job.doUpdate) return 3;
    return 4;
  };
  return jobs.map((job, index) => ({ job, index })).sort((a, b) => rank(a.job) - rank(b.job) || a.index - b.index).map(({ job }) => job); // prettier-ignore
}

export interface StartOrder {
  readonly workflowId: string;
  readonly type: string;
  readonly args: readonly Payload[];
  readonly memo?: Readonly<Record<string, unknown>>;
}

export interface UpdateOrder {
  readonly id: string;
  readonly name: string;
  readonly args: readonly Payload[];
}
