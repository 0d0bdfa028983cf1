import { createCardActivities, type CardSource } from '../../activities/index.js';
import { runningWorker, type RunningWorker, type WorkerOptions } from './worker.js';

export interface CardWorkerOptions extends Omit<WorkerOptions, 'bundlePath' | 'taskQueue'> {
  /** The cards of this process, and the task queue on which only it works. */
  readonly cards: CardSource & { readonly queue: string };
}

/** A worker for the one activity that sends cards. It has no workflows: those run wherever all flows run. */
export function startCardWorker({ cards, ...options }: CardWorkerOptions): Promise<RunningWorker> {
  return runningWorker(
    { ...options, taskQueue: cards.queue },
    { activities: createCardActivities(options.activities, cards) },
  );
}
