import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { type CallbackSender, CallbackRefusedError, NoCallbackSecretError } from '../src/callbacks/index.js';
import { retryAfterMs } from '../src/service-client/retry-after.js';
import type { ActivityDeps } from './deps.js';
import { elapsedMs } from './timing.js';
import type { CallbackFailure, Notification } from '../src/protocol/callbacks.js';

/** The receiver says that this address is gone for good. */
const GONE = 410;
const MAX_HINT_MS = 3_600_000;

export interface CallbackTarget {
  readonly flowId: string;
  readonly url: string;
  readonly timeScale: number;
  readonly notification: Notification;
  /** An attempt that fails after so long is the last one. */
  readonly triedForMs: number;
}

export interface CallbackAnswer {
  readonly at: string;
  readonly httpStatus: number;
  readonly attempts: number;
}

/** Status changes go on to the caller. */
export function createCallbackActivities(deps: ActivityDeps) {
  return {
    /** One attempt. Temporal repeats it, with the same id and the same body, until the receiver answers 2xx. */
    async deliverCallback(target: CallbackTarget): Promise<CallbackAnswer> {
      const { flowId, url, notification, timeScale } = target;
      const { attempt } = Context.current().info;
      const origin = originOf(url);
      const isLast = elapsedMs() >= target.triedForMs;
      const answer = await send(deps.callbacks, url, notification).catch((error: unknown) => {
        const failure = { problem: told(error), httpStatus: null, attempt, at: now() };
        throw notDelivered(failure, isLast || isRuledOut(error, deps, url));
      });
      const { httpStatus } = answer;
      if (httpStatus >= 200 && httpStatus < 300) {
        deps.log.info({ flowId, origin, callback: notification.id, attempt }, 'a callback was delivered');
        return { at: now(), httpStatus, attempts: attempt };
      }
      const hintMs = retryAfterMs((name) => (name === 'retry-after' ? answer.retryAfter : undefined), {}, Date.now());
      const failure = { problem: `The receiver answered ${httpStatus}.`, httpStatus, attempt, at: now() };
      throw notDelivered(failure, isLast || httpStatus === GONE, hintMs === undefined ? undefined : hintMs * timeScale);
    },

    /** Listed from now on; the log says so too, which alerts can watch. */
    async noteUndelivered(order: { flowId: string; problem: string }): Promise<void> {
      deps.log.warn(order, 'a callback could not be delivered and waits for a person');
    },
  };
}

function send(sender: CallbackSender | undefined, url: string, notification: Notification) {
  if (sender === undefined) return Promise.reject(new NoCallbackSecretError());
  return sender.send({ url, id: notification.id, body: bodyOf(notification) });
}

/** The same bytes at every attempt. */
function bodyOf({ change: { timestamp, ...flow }, skipped }: Notification): string {
  return JSON.stringify({ type: 'flow.updated', timestamp, data: { ...flow, skipped } });
}

/** Ours hold no URL; of others only the name is shown. */
function told(error: unknown): string {
  if (error instanceof Error && /^(Callback\w+|NoCallbackSecret)Error$/.test(error.name)) return error.message;
  return `The callback failed (${error instanceof Error ? error.name : 'unknown'}).`;
}

/** What the URL itself rules out never becomes right; a name may lead elsewhere tomorrow. */
function isRuledOut(error: unknown, { callbacks }: ActivityDeps, url: string): boolean {
  return error instanceof CallbackRefusedError && callbacks?.problemOf(url) !== undefined;
}

function notDelivered(failure: CallbackFailure, isFinal: boolean, afterMs?: number): ApplicationFailure {
  return ApplicationFailure.create({
    type: 'callback_not_delivered',
    message: failure.problem,
    nonRetryable: isFinal,
    details: [failure],
    ...(afterMs === undefined ? {} : { nextRetryDelay: Math.min(MAX_HINT_MS, Math.max(1, Math.ceil(afterMs))) }),
  });
}

const now = (): string => new Date().toISOString();

/** All that a log may say of a URL. */
function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : '(no URL)';
}
