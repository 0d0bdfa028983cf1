import type { Payload } from '@temporalio/common';
import type { ActivityWorker } from './activities.js';
import type { PendingUpdate, Run, StartOrder, UpdateOrder } from './run.js';

/** What the simulation's parts ask of Temporal. */
export interface TemporalServer {
  /** The newest run of each id, and those before it. */
  readonly runs: readonly Run[];
  current(workflowId: string): Run | undefined;
  start(order: StartOrder): Run | 'already-started';
  /** False: closed, or never started. */
  signal(workflowId: string, name: string, args: readonly Payload[]): boolean;
  requestCancel(workflowId: string): boolean;
  update(workflowId: string, order: UpdateOrder, pending: PendingUpdate): boolean;
  /** Undefined if no worker answers. */
  query(workflowId: string, name: string): Promise<unknown>;
  terminate(workflowId: string): boolean;
  /** A closed workflow begins anew, with the input of its last run. False: it is open, or never was. */
  resume(workflowId: string): boolean;
  /**
   * A new run that repeats the `turn`th workflow task and goes on from there. What came in later comes again: signals,
   * updates that were accepted, and a request to cancel.
   */
  reset(workflowId: string, turn: number): Run | undefined;
  addWorker(worker: ActivityWorker): void;
  dispose(): Promise<void>;
}
