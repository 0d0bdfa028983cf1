import { context, propagation, SpanKind } from '@opentelemetry/api';
import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import {
  type CallbackSender,
  CallbackRefusedError,
  CallbackUnreachableError,
  createReceivers,
  HeldBackError,
  NoCallbackSecretError,
  receiverOf,
} from '../src/callbacks/index.js';
import { growingPauseMs, isoTime, systemClock } from '../src/clock.js';
import { retryAfterMs } from '../src/service-client/retry-after.js';
import type { ActivityDeps } from './deps.js';
import { storing } from './failures.js';
import { undeliveredMatterId } from '../src/protocol/matters.js';
import { traced } from '../src/tracing.js';
import { elapsedMs } from './timing.js';
import {
  CALLBACK_PAUSE_MOST_MS,
  CALLBACK_PAUSE_MS,
  type CallbackFailure,
  type Notification,
} from '../src/protocol/callbacks.js';

/** The receiver says that this address is gone permanently. */
const GONE = 410;

export interface CallbackTarget {
  readonly flowId: string;
  readonly url: string;
  readonly timeScale: number;
  readonly notification: Notification;
  /** An attempt that fails after this time is the last one. */
  readonly triedForMs: number;
}

export interface CallbackAnswer {
  readonly at: string;
  readonly httpStatus: number;
  readonly attempts: number;
}

/**
 * Pause before the next try of a callback that was held back, ms: because too many are open, or because the receiver's
 * circuit is open. Each further pause is twice as long, up to the maximum.
 */
const HELD_BACK_MS = { busy: 1_000, circuit: 15_000 };
/** A receiver that is gone may have any number of them. */
const HELD_BACK_MOST_MS = { busy: 300_000, circuit: CALLBACK_PAUSE_MOST_MS };

/**
 * Sends status changes to the caller. Callbacks have a task queue of their own, and a hanging receiver takes only a few
 * of this worker's slots, so that no send of money waits for it.
 */
export function createCallbackActivities(deps: ActivityDeps) {
  const { clock = systemClock } = deps;
  const receivers = createReceivers(deps.monotonicMs, (open) => openCircuits().set(open));
  return {
    /** One attempt. Temporal repeats it, with the same id and the same body, until the receiver answers 2xx. */
    async deliverCallback(target: CallbackTarget): Promise<CallbackAnswer> {
      const { flowId, url, notification, timeScale } = target;
      const { attempt } = Context.current().info;
      const origin = originOf(url);
      const isLast = elapsedMs() >= target.triedForMs;
      const count = (result: string) => deps.metrics?.count('towline_callbacks_total', { result });
      // At each attempt: it may have been given to another name.
      const owner = await storing(async () => (await deps.store.audit.ownersOf([flowId])).get(flowId));
      // Signed for its owner alone: a gateway records whose start Temporal took, as soon as one is asked.
      if (owner?.by === 'starts') {
        const problem = 'Several names started the flow, and none has asked for it since.';
        throw notDelivered({ problem, httpStatus: null, attempt, at: isoTime(clock), circuit: null }, isLast);
      }
      const to = { owner: owner?.name ?? '', receiver: receiverOf(url), origin };
      const answer = await receivers
        .attempt(to, () =>
          traced(
            { name: 'send callback', flowId, kind: SpanKind.CLIENT, attributes: { 'towline.origin': origin } },
            () => send(deps.callbacks, owner?.name ?? undefined, target),
          ),
        )
        .catch((error: unknown) => {
          count(error instanceof HeldBackError ? 'held_back' : 'failed');
          const sinceMs = receivers.openSinceMs(to);
          const circuit = sinceMs === undefined ? null : { origin, since: new Date(sinceMs).toISOString() };
          const failure = { problem: problemOf(error), httpStatus: null, attempt, at: isoTime(clock), circuit };
          if (!(error instanceof HeldBackError)) throw notDelivered(failure, isLast || isRuledOut(error, deps, url));
          const afterMs =
            growingPauseMs(HELD_BACK_MS[error.because], HELD_BACK_MOST_MS[error.because], attempt - 1) * timeScale;
          throw notDelivered(failure, isLast, afterMs);
        });
      const { httpStatus } = answer;
      const isDelivered = httpStatus >= 200 && httpStatus < 300;
      count(isDelivered ? 'delivered' : 'refused');
      if (isDelivered) {
        deps.log.info({ flowId, origin, callback: notification.id, attempt }, 'a callback was delivered');
        return { at: isoTime(clock), httpStatus, attempts: attempt };
      }
      const hintMs = retryAfterMs({ 'retry-after': answer.retryAfter }, {}, clock.nowMs());
      const failure = {
        problem: `The receiver answered ${httpStatus}.`,
        httpStatus,
        attempt,
        at: isoTime(clock),
        circuit: null,
      };
      // A receiver may ask for a longer pause, but not for more attempts.
      const leastMs = growingPauseMs(CALLBACK_PAUSE_MS, CALLBACK_PAUSE_MOST_MS, attempt - 1);
      const afterMs = hintMs === undefined ? undefined : Math.max(hintMs, leastMs) * timeScale;
      throw notDelivered(failure, isLast || httpStatus === GONE, afterMs);
    },
  };
}

export function createUndeliveredActivities({ log, store, clock = systemClock }: ActivityDeps) {
  return {
    /** Lists the callback as undelivered, and logs it, so that alerts can watch for it. */
    async noteUndelivered(order: { flowId: string; problem: string }): Promise<void> {
      log.warn(order, 'a callback could not be delivered and waits for a person');
      const { flowId } = order;
      const content = { kind: 'callback_undelivered', flowId, since: isoTime(clock) } as const;
      await storing(() => store.matters.reopen(undeliveredMatterId(flowId), content));
    },

    /** The callback is tried again: by a person's order, or because the flow has a newer change. */
    async noteTriedAgain({ flowId }: { flowId: string }): Promise<void> {
      await storing(() => store.matters.resolve(undeliveredMatterId(flowId)));
    },
  };
}

/** For Prometheus: origins with an open circuit, to which this worker sends only one trial callback now and then. */
const openCircuits = () =>
  Context.current().metricMeter.createGauge(
    'towline_callback_circuits_open',
    'int',
    undefined,
    'Origins that did not answer callbacks, and are tried by one at a time',
  );

function send(sender: CallbackSender | undefined, owner: string | undefined, { url, notification }: CallbackTarget) {
  if (sender === undefined) return Promise.reject(new NoCallbackSecretError());
  // Lets the receiver continue our trace.
  const headers: Record<string, string> = {};
  propagation.inject(context.active(), headers);
  return sender.send({ url, owner, id: notification.id, body: bodyOf(notification), headers });
}

/** The same bytes at every attempt. */
function bodyOf({ change: { timestamp, ...flow }, skipped }: Notification): string {
  return JSON.stringify({ type: 'flow.updated', timestamp, data: { ...flow, skipped } });
}

const OWN_ERRORS = [CallbackRefusedError, CallbackUnreachableError, NoCallbackSecretError, HeldBackError];

/** Our own errors hold no URL; of other errors only the name is shown. */
function problemOf(error: unknown): string {
  if (error instanceof Error && OWN_ERRORS.some((own) => error instanceof own)) return error.message;
  return `The callback failed (${error instanceof Error ? error.name : 'unknown'}).`;
}

/** A URL that is ruled out stays ruled out; a name may resolve to another address later. */
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

/** The part of a URL that a log may show. */
function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : '(no URL)';
}
