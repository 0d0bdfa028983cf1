import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import {
  type CallbackSender,
  CallbackRefusedError,
  NoCallbackSecretError,
  receiverOf,
} from '../src/callbacks/index.js';
import { retryAfterMs } from '../src/service-client/retry-after.js';
import type { ActivityDeps } from './deps.js';
import { elapsedMs } from './timing.js';
import {
  CALLBACK_PAUSE_MOST_MS,
  CALLBACK_PAUSE_MS,
  type CallbackFailure,
  type Notification,
} from '../src/protocol/callbacks.js';

/** The receiver says that this address is gone for good. */
const GONE = 410;

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

/** Callbacks to one receiver that this worker has open at a time. */
const MOST_OPEN = 20;
/** A callback that is open for longer counts as slow, ms: an answer is a matter of milliseconds. */
const SLOW_AFTER_MS = 2_000;
/** With so many slow ones the receiver hangs: no more is sent to it for a while. */
const MOST_SLOW = 4;
/** Of the 100 places of a worker: the others are kept for receivers that answered last time, whatever names an attacker has. */
const MOST_OPEN_TO_STRANGERS = 80;
/** Receivers that answered, which are remembered. */
const MOST_REMEMBERED = 10_000;
/**
 * Until the next try of one that was held back, ms: because many are open, or because the receiver hangs. Each further pause is
 * twice as long, up to the most.
 */
const HELD_BACK_MS = { busy: 1_000, hanging: 15_000 };
const HELD_BACK_MOST_MS = 300_000;

/**
 * Status changes go on to the caller. One receiver that hangs takes only a few of this worker's places, and none of those
 * that send money: callbacks have a task queue of their own.
 */
export function createCallbackActivities(deps: ActivityDeps) {
  const receivers = createReceivers(deps.monotonicMs);
  return {
    /** One attempt. Temporal repeats it, with the same id and the same body, until the receiver answers 2xx. */
    async deliverCallback(target: CallbackTarget): Promise<CallbackAnswer> {
      const { flowId, url, notification, timeScale } = target;
      const { attempt } = Context.current().info;
      const origin = originOf(url);
      const isLast = elapsedMs() >= target.triedForMs;
      const place = receivers.take(receiverOf(url));
      if (typeof place === 'string') {
        const problem = 'Other callbacks to this receiver are still open.';
        const failure = { problem, httpStatus: null, attempt, at: now() };
        throw notDelivered(failure, isLast, pauseMs(HELD_BACK_MS[place], HELD_BACK_MOST_MS, attempt) * timeScale);
      }
      const answer = await send(deps.callbacks, url, notification)
        .then((answered) => {
          place.answered();
          return answered;
        })
        .catch((error: unknown) => {
          const failure = { problem: problemOf(error), httpStatus: null, attempt, at: now() };
          throw notDelivered(failure, isLast || isRuledOut(error, deps, url));
        })
        .finally(place.free);
      const { httpStatus } = answer;
      if (httpStatus >= 200 && httpStatus < 300) {
        deps.log.info({ flowId, origin, callback: notification.id, attempt }, 'a callback was delivered');
        return { at: now(), httpStatus, attempts: attempt };
      }
      const hintMs = retryAfterMs({ 'retry-after': answer.retryAfter }, {}, Date.now());
      const failure = { problem: `The receiver answered ${httpStatus}.`, httpStatus, attempt, at: now() };
      // A receiver may ask for more time, and not for more attempts.
      const leastMs = pauseMs(CALLBACK_PAUSE_MS, CALLBACK_PAUSE_MOST_MS, attempt);
      const afterMs = hintMs === undefined ? undefined : Math.max(hintMs, leastMs) * timeScale;
      throw notDelivered(failure, isLast || httpStatus === GONE, afterMs);
    },
  };
}

export function createUndeliveredActivities(deps: ActivityDeps) {
  return {
    /** Listed from now on; the log says so too, which alerts can watch. */
    async noteUndelivered(order: { flowId: string; problem: string }): Promise<void> {
      deps.log.warn(order, 'a callback could not be delivered and waits for a person');
    },
  };
}

interface CallbackPlace {
  /** It answered, whatever: it does not hang. */
  readonly answered: () => void;
  readonly free: () => void;
}

/** The callbacks that are open, by receiver. */
function createReceivers(monotonicMs: () => number) {
  const open = new Map<string, Set<{ readonly sinceMs: number }>>();
  /** Those that answered last time, the longest ago first. */
  const answering = new Set<string>();
  let openToStrangers = 0;
  return {
    /** A place for one more, or why there is none now. */
    take(receiver: string): CallbackPlace | keyof typeof HELD_BACK_MS {
      const mine = open.get(receiver) ?? new Set();
      const slow = [...mine].filter(({ sinceMs }) => monotonicMs() - sinceMs > SLOW_AFTER_MS);
      if (slow.length >= MOST_SLOW) return 'hanging';
      const isStranger = !answering.delete(receiver);
      if (!isStranger) answering.add(receiver);
      if (mine.size >= MOST_OPEN || (isStranger && openToStrangers >= MOST_OPEN_TO_STRANGERS)) return 'busy';
      const place = { sinceMs: monotonicMs() };
      open.set(receiver, mine.add(place));
      if (isStranger) openToStrangers += 1;
      let hasAnswered = false;
      return {
        answered() {
          hasAnswered = true;
          answering.add(receiver);
          const [oldest] = answering;
          if (answering.size > MOST_REMEMBERED && oldest !== undefined) answering.delete(oldest);
        },
        free() {
          mine.delete(place);
          if (mine.size === 0) open.delete(receiver);
          if (isStranger) openToStrangers -= 1;
          if (!hasAnswered) answering.delete(receiver);
        },
      };
    },
  };
}

/** After that attempt, counted from 1. */
const pauseMs = (firstMs: number, mostMs: number, attempt: number): number =>
  Math.min(mostMs, firstMs * 2 ** (attempt - 1));

function send(sender: CallbackSender | undefined, url: string, notification: Notification) {
  if (sender === undefined) return Promise.reject(new NoCallbackSecretError());
  return sender.send({ url, id: notification.id, body: bodyOf(notification) });
}

/** The same bytes at every attempt. */
function bodyOf({ change: { timestamp, ...flow }, skipped }: Notification): string {
  return JSON.stringify({ type: 'flow.updated', timestamp, data: { ...flow, skipped } });
}

/** Ours hold no URL; of others only the name is shown. */
function problemOf(error: unknown): string {
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
    ...(afterMs === undefined
      ? {}
      : { nextRetryDelay: Math.min(CALLBACK_PAUSE_MOST_MS, Math.max(1, Math.ceil(afterMs))) }),
  });
}

const now = (): string => new Date().toISOString();

/** All that a log may say of a URL. */
function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : '(no URL)';
}
