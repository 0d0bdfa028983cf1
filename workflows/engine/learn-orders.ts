import type { Action, Event, Known, Order } from './known.js';
import type { HandOver } from '../../activities/types.js';
import type { RefundInvoice } from './refund-invoice.js';
import { transferOrdered } from '../bridge/learn.js';
import { inNewTurn } from './take-events.js';

/** What a person's order means from now on. */
export const withOrder = (known: Known, id: string | undefined, change: Partial<Order>): Known => ({
  ...known,
  orders: known.orders.map((order) => (order.id === id ? { ...order, ...change } : order)),
});

export function carriedOut(before: Known, id: string, nowMs: number): Known {
  const order = before.orders.find((one) => one.id === id);
  if (order === undefined) return before;
  const known = transferOrdered(before, order, nowMs);
  const next = withOrder(known, id, { became: 'carried-out' });
  const moreTime = (atMs: number | null) => ({ deadlineAtMs: atMs ?? nowMs + next.deadlineMs });
  const { refundInvoice } = known;
  if (order.action === 'keep-waiting') {
    const isForInvoice = known.parked?.reason === 'refund_invoice_needed';
    const awaited = isForInvoice ? { refundInvoice: { ...NO_INVOICE, isAwaited: true } } : {};
    return inNewTurn({ ...next, ...moreTime(order.untilMs), ...awaited });
  }
  if (order.action === 'confirm-handed-over' && refundInvoice !== null)
    return inNewTurn({ ...next, ...moreTime(null), refundInvoice: { ...refundInvoice, isHandedOver: true } });
  if (order.action === 'pay') return payOrdered(next, order, nowMs);
  // It has a deadline of its own if the flow's is over.
  if (order.action === 'send-again') return nowMs < next.deadlineAtMs ? next : { ...next, ...moreTime(null) };
  const said = SAID_BY[order.action];
  return said === undefined ? next : say(next, order, said);
}

/** A refund is expected from then on, also past the deadline. */
export function handedOver(known: Known, { says, why }: HandOver, nowMs: number): Known {
  const { refundInvoice, deadlineAtMs, deadlineMs } = known;
  if (refundInvoice === null) return known;
  const isTaken = says === 'taken';
  const more = isTaken && nowMs >= deadlineAtMs ? { deadlineAtMs: nowMs + deadlineMs } : {};
  const isHandedOver = refundInvoice.isHandedOver || isTaken;
  return inNewTurn({ ...known, ...more, refundInvoice: { ...refundInvoice, isHandedOver, handOver: { says, why } } });
}

/** The wait for the order has used up its time: the payment has a deadline of its own. */
function payOrdered(known: Known, { described }: Order, nowMs: number): Known {
  const { prepared } = known;
  if (prepared === null || described === null) return known;
  const { input, ...terms } = described;
  const next = { ...known, prepared: { ...prepared, input, steps: { ...prepared.steps, [PAY]: terms } } };
  // The same order again, of which this run may not have known all.
  if (PAY in prepared.steps) return next;
  return inNewTurn({ ...next, deadlineAtMs: nowMs + known.deadlineMs });
}

/** The request that an order to pay is about. */
const PAY = 'pay';

export const NO_INVOICE: RefundInvoice = { given: null, earlier: [], isHandedOver: false, isAwaited: false };

/** Payment hashes of this run's invoices that were not handed over. */
export function unusedInvoices({ refundInvoice }: Known): readonly string[] {
  if (refundInvoice === null) return [];
  const { given, earlier, isHandedOver, handOver } = refundInvoice;
  const isUsed = given === null || isHandedOver || handOver?.says === 'unknown';
  return isUsed ? earlier : [...earlier, given.paymentHash];
}

/** What a person says of an event by an order about it. */
const SAID_BY: Readonly<Partial<Record<Action, NonNullable<Event['said']>>>> = {
  'accept-event': 'accepted',
  'dismiss-event': 'dismissed',
  'trust-settlement': 'trusted',
};

function say(known: Known, { eventId }: Order, said: NonNullable<Event['said']>): Known {
  const events = known.events.map((one) => (one.event.id === eventId ? { ...one, said } : one));
  return inNewTurn({ ...known, events });
}
