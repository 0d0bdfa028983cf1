import { ApplicationFailure, condition, continueAsNew } from '@temporalio/workflow';
import type { CallbackOrder, CallbackReport } from '../src/flows/callback.js';
import { isPlaintext, isUndecodable, requireKnownKey } from '../src/temporal/plaintext-marker.js';
import { deliver } from './callbacks/deliver.js';
import { isLast } from './callbacks/change.js';
import { openDelivery, type Delivery, type DeliveryCarried } from './callbacks/delivery.js';
import { CALLBACK_IDLE_MS, UNDELIVERED_KEPT_MS } from './steps/policies.js';

/**
 * Tells one flow's caller of its changes, in their order: one callback at a time, always the newest change. It outlives
 * its flow, ends when the last change was delivered or nothing came for a while, and is started again at need.
 */
export async function callbackDelivery(rawOrder: unknown, carried?: DeliveryCarried): Promise<Told> {
  const order = ownOrder(rawOrder);
  const delivery = openDelivery(order, carried);
  while (await news(delivery, order)) {
    if (delivery.isTooLong()) await continueAsNew<typeof callbackDelivery>(order, delivery.carry());
    await deliver(delivery, order);
  }
  if (delivery.state === 'undelivered') {
    throw ApplicationFailure.create({
      type: 'undelivered',
      message: `Given up on ${delivery.since ?? ''}, and nobody had it sent again.`,
      nonRetryable: true,
    });
  }
  return { delivered: delivery.delivered };
}

type Told = Pick<CallbackReport, 'delivered'>;

/** Waits for something to send; false where nothing will come, or nothing has come for long. */
async function news(delivery: Delivery, { timeScale }: CallbackOrder): Promise<boolean> {
  if (delivery.hasNews()) return true;
  const last = delivery.delivered?.notification.change;
  if (delivery.state === 'delivered' && last !== undefined && isLast(last)) return false;
  const waitMs = delivery.state === 'undelivered' ? UNDELIVERED_KEPT_MS : CALLBACK_IDLE_MS;
  const summary = delivery.state === 'undelivered' ? 'Undelivered: wait for a person' : 'Wait for the next change';
  return condition(() => delivery.hasNews(), Math.max(1, Math.ceil(waitMs * timeScale)), { summary });
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
