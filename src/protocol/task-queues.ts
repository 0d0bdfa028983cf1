/** Which activity runs on which task queue. Imports nothing, so that workflows may import its values. */

/**
 * A party that hangs does not block another: each queue has worker slots of its own.
 *
 * - `flows`: the workflows, and their own short steps: the input, our store. None of them waits for the service.
 * - `money`: what moves money: the POSTs under claims. A card is sent from the queue of the gateway that keeps it,
 *   after its turn in this queue.
 * - `lookups`: requests to the service that may be repeated: quotes, status lookups, and reports of settlements.
 * - `callbacks`: callbacks to callers.
 */
export const QUEUES = ['flows', 'money', 'lookups', 'callbacks'] as const;
export type Queue = (typeof QUEUES)[number];

/** How long a gateway keeps a card, and how long an attempt to send it may wait for that gateway; ms. */
export const CARD_LIFE_MS = 60_000;

/** Durable: the names of the task queues in Temporal, from the one that flows are started on. */
export const taskQueueOf = (flowsQueue: string, queue: Queue): string =>
  queue === 'flows' ? flowsQueue : `${flowsQueue}-${queue}`;

const QUEUE_OF: Readonly<Record<string, Queue>> = {
  submitBridgeDeposit: 'money',
  submitRefund: 'money',
  submitStep: 'money',
  takeTurn: 'money',
  handOverRefundInvoice: 'money',
  awaitStatus: 'lookups',
  lookAtPost: 'lookups',
  lookAtStatus: 'lookups',
  lookAtStep: 'lookups',
  checkBridgeTransfer: 'lookups',
  quoteBridgeTransfer: 'lookups',
  reportSettlement: 'lookups',
  settleUnknown: 'lookups',
  voidTurnedAwayFlow: 'lookups',
  whetherPaid: 'lookups',
  deliverCallback: 'callbacks',
};

/** The queue of an activity, by its name. */
export const queueOfActivity = (name: string): Queue => QUEUE_OF[name] ?? 'flows';
