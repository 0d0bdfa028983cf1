import { ActivityFailure, ApplicationFailure, CancellationScope, condition, rootCause } from '@temporalio/workflow';
import type { CallbackFailure, CallbackOrder, Notification } from '../../src/flows/callback.js';
import { UNDELIVERED } from '../../src/flows/vocabulary.js';
import { act } from '../steps/activities.js';
import { markAs } from '../steps/flow-search.js';
import { CALLBACK, CALLBACK_TRIED_FOR_MS, STORE } from '../steps/policies.js';
import { observed } from '../steps/waits.js';
import type { Delivery } from './delivery.js';

/**
 * Sends the next callback until it is delivered, until there is a newer change, or until it was tried for days. What a
 * newer change takes the place of is named by the callback of that one.
 */
export async function deliver(delivery: Delivery, order: CallbackOrder): Promise<void> {
  const notification = delivery.next();
  // A person wants again what never was.
  if (notification === undefined) return;
  if (delivery.state === 'undelivered') markAs(null);
  delivery.state = 'sending';
  delivery.current = notification;
  delivery.since = new Date().toISOString();
  delivery.failure = null;

  const sending = observed(() => send(order, notification));
  await condition(() => sending.settled() || delivery.hasNews());
  const isSuperseded = !sending.settled();
  if (isSuperseded) sending.cancel();
  try {
    delivery.delivered = { notification, ...(await sending.promise) };
    delivery.current = null;
    delivery.state = 'delivered';
    delivery.since = null;
  } catch (error) {
    if (CancellationScope.current().consideredCancelled || !(error instanceof ActivityFailure)) throw error;
    // Whatever became of the last attempt: the newer one is sent now.
    if (isSuperseded) return;
    await giveUp(delivery, order, failureOf(error));
  }
}

function send({ flowId, url, timeScale }: CallbackOrder, notification: Notification) {
  const triedForMs = Math.max(1_000, Math.ceil(CALLBACK_TRIED_FOR_MS * timeScale));
  const attempts = act(CALLBACK, `Tell the caller: ${notification.change.state}`, timeScale);
  return attempts.deliverCallback({ flowId, url, notification, timeScale, triedForMs });
}

async function giveUp(delivery: Delivery, { flowId, timeScale }: CallbackOrder, failure: CallbackFailure) {
  delivery.state = 'undelivered';
  delivery.since = new Date().toISOString();
  delivery.failure = failure;
  markAs(UNDELIVERED);
  await act(STORE, 'Say that it was not delivered', timeScale).noteUndelivered({ flowId, problem: failure.problem });
}

/** What the last attempt said; one that was cut off, as by a worker's end, says nothing. */
function failureOf(error: ActivityFailure): CallbackFailure {
  const said = error.cause instanceof ApplicationFailure ? error.cause.details?.[0] : undefined;
  if (said !== undefined) return said as CallbackFailure;
  return { problem: rootCause(error) ?? 'unknown', httpStatus: null, attempt: 0, at: new Date().toISOString() };
}
