import {
  ApplicationFailure,
  condition,
  continueAsNew,
  ActivityFailure,
  CancellationScope,
  rootCause,
} from '@temporalio/workflow';
import { isPlaintext, isUndecodable, requireKnownKey } from '../src/protocol/plaintext-marker.js';
import { UNDELIVERED } from '../src/protocol/vocabulary.js';
import { isLast, openDelivery, type Delivery, type DeliveryCarried } from './callbacks.js';
import { CALLBACK_IDLE_MS, UNDELIVERED_KEPT_MS, CALLBACK, CALLBACK_TRIED_FOR_MS, STORE } from './engine/policies.js';
import { act, handedOn } from './engine/activities.js';
import { markAs } from './engine/search-attributes.js';
import { observed } from './engine/waits.js';
import type { CallbackOrder, CallbackReport, CallbackFailure, Notification } from '../src/protocol/callbacks.js';

/**
 * Sends one flow's changes to its caller, in their order: one callback at a time, always the newest change. It outlives
 * its flow, ends when the last change was delivered or nothing came for a while, and is started again when needed.
 */
export async function callbackDelivery(rawOrder: unknown, carried?: DeliveryCarried): Promise<DeliveryResult> {
  const order = ownOrder(rawOrder);
  const delivery = openDelivery(order, handedOn(carried));
  while (await hasWork(delivery, order)) {
    if (delivery.isTooLong()) await continueAsNew<typeof callbackDelivery>(order, delivery.carry());
    await deliver(delivery, order);
  }
  if (delivery.state === 'undelivered') {
    throw ApplicationFailure.create({
      type: 'undelivered',
      message: `Given up on ${delivery.since ?? ''}, and it was not sent again by a person.`,
      nonRetryable: true,
    });
  }
  return { delivered: delivery.delivered };
}

type DeliveryResult = Pick<CallbackReport, 'delivered'>;

/** Waits for something to send; false if nothing will come, or nothing has come for long. */
async function hasWork(delivery: Delivery, { timeScale }: CallbackOrder): Promise<boolean> {
  if (delivery.hasWork()) return true;
  const last = delivery.delivered?.notification.change;
  if (delivery.state === 'delivered' && last !== undefined && isLast(last)) return false;
  const waitMs = delivery.state === 'undelivered' ? UNDELIVERED_KEPT_MS : CALLBACK_IDLE_MS;
  const summary = delivery.state === 'undelivered' ? 'Undelivered: wait for a person' : 'Wait for the next change';
  return condition(() => delivery.hasWork(), Math.max(1, Math.ceil(waitMs * timeScale)), { summary });
}

/** Only our own flows and gateways start it, and they encrypt. */
function ownOrder(raw: unknown): CallbackOrder {
  requireKnownKey(raw);
  if (!isPlaintext(raw) && !isUndecodable(raw)) return raw as CallbackOrder;
  throw ApplicationFailure.create({
    type: 'plaintext_input',
    message: 'The input came unencrypted. Only flows and gateways start this.',
    nonRetryable: true,
  });
}

/**
 * Sends the next callback until it is delivered, until there is a newer change, or until it was tried for days. The
 * callback of a newer change names the changes that it replaces.
 */
async function deliver(delivery: Delivery, order: CallbackOrder): Promise<void> {
  const notification = delivery.next();
  // A person asks to resend, and there was never a callback.
  if (notification === undefined) return;
  if (delivery.state === 'undelivered') {
    markAs(null);
    // Bounded by this worker alone: it writes a line of log.
    await act(STORE, 'Notify that it is tried again', order.timeScale).noteTriedAgain({ flowId: order.flowId });
  }
  delivery.state = 'sending';
  delivery.current = notification;
  delivery.since = new Date().toISOString();
  delivery.failure = null;

  const sending = observed(() => send(order, notification));
  // Bounded by CALLBACK_TRIED_FOR_MS, by which the activity gives up.
  await condition(() => sending.settled() || delivery.hasWork());
  const isSuperseded = !sending.settled();
  if (isSuperseded) sending.cancel();
  try {
    delivery.delivered = { notification, ...(await sending.promise) };
    delivery.current = null;
    delivery.state = 'delivered';
    delivery.since = null;
  } catch (error) {
    if (CancellationScope.current().consideredCancelled || !(error instanceof ActivityFailure)) throw error;
    // Whatever the result of the last attempt: the newer one is sent now.
    if (isSuperseded) return;
    await giveUp(delivery, order, failureOf(error));
  }
}

function send({ flowId, url, timeScale }: CallbackOrder, notification: Notification) {
  const triedForMs = Math.max(1_000, Math.ceil(CALLBACK_TRIED_FOR_MS * timeScale));
  // Bounded by CALLBACK_TRIED_FOR_MS, by which the activity gives up.
  const attempts = act(CALLBACK, `Send the caller: ${notification.change.state}`, timeScale);
  return attempts.deliverCallback({ flowId, url, notification, timeScale, triedForMs });
}

async function giveUp(delivery: Delivery, { flowId, timeScale }: CallbackOrder, failure: CallbackFailure) {
  delivery.state = 'undelivered';
  delivery.since = new Date().toISOString();
  delivery.failure = failure;
  markAs(UNDELIVERED);
  // Bounded by this worker alone: it writes a line of log.
  await act(STORE, 'Say that it was not delivered', timeScale).noteUndelivered({ flowId, problem: failure.problem });
}

/** The failure of the last attempt; an interrupted one, for example by a worker's end, has none. */
function failureOf(error: ActivityFailure): CallbackFailure {
  const said = error.cause instanceof ApplicationFailure ? error.cause.details?.[0] : undefined;
  if (said !== undefined) return said as CallbackFailure;
  return {
    problem: rootCause(error) ?? 'unknown',
    httpStatus: null,
    attempt: 0,
    at: new Date().toISOString(),
    circuit: null,
  };
}
