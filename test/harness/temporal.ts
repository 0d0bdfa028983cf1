import type { Client } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import type { ActivityDeps, CardSource } from '../../activities/index.js';
import type { RunningWorker, WorkerShare } from '../../src/temporal/worker.js';
import type { LogSink } from '../../src/temporal/sdk-logger.js';

/** And the workflows of another release. @default the present ones */
export interface TestWorkerShare extends WorkerShare {
  /** Of their bundle. */
  readonly bundlePath?: string;
  readonly dormantPatches?: readonly string[];
}

export type TestWorker = Pick<RunningWorker, 'ended' | 'shutdown'>;

/** A Temporal server for flows, and its time. */
export interface TestTemporal {
  readonly client: Client;
  /** Empty if it is in this process. */
  readonly address: string;
  /** The flows' time: the clocks of a deployment agree, so its store has this one. */
  readonly nowMs: () => number;
  /** Lets this much of the flows' time pass: at once if time can be skipped. */
  readonly pass: (ms: number) => Promise<void>;
  /** A worker for all flow kinds. In the virtual one slots have no number. */
  readonly worker: (deps: ActivityDeps, share?: TestWorkerShare) => Promise<TestWorker>;
  /** A worker for the cards of one gateway. */
  readonly cardWorker: (deps: ActivityDeps, cards: CardSource & { readonly queue: string }) => Promise<TestWorker>;
  readonly close: () => Promise<void>;
}

export interface TestTemporalOptions {
  readonly dataConverter: DataConverter;
  readonly taskQueue: string;
  readonly log: LogSink;
  /** @default the test run's server */
  readonly address?: string;
  readonly identity?: string;
}
