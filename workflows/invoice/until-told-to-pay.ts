import { condition } from '@temporalio/workflow';
import type { Payment, PaymentCarried } from '../payment/payment.js';
import { endFlow, FlowEnd } from '../steps/flow-end.js';
import type { Flow } from '../steps/flow.js';
import { canGoOnAsNew, goOnAsNew, tooLong } from '../steps/go-on-as-new.js';
import { lookForPayment } from './look-for-payment.js';
import { lookAtInbox } from '../steps/look-at-inbox.js';
import type { PayDesk } from './pay-desk.js';
import { PAY } from './plans.js';

/**
 * Waits for the order to pay. Until then nothing moves by us: a cancel ends the flow, and so does the deadline, unless
 * somebody has paid the invoice by its own page.
 */
export async function untilToldToPay(flow: Flow, payment: Payment, desk: PayDesk): Promise<'told' | 'paid'> {
  const told = () => PAY.step in payment.steps;
  const canGoOn = () => tooLong(flow) && !desk.busy() && canGoOnAsNew(flow);
  if (!told()) flow.enter('awaiting-payment', 'waits to be told to pay');
  for (;;) {
    await condition(() => told() || flow.stop !== null || flow.deadlinePassed || payment.lookNow || canGoOn());
    if (flow.stop !== null) throw new FlowEnd(flow.stop);
    if (told()) return 'told';
    if (payment.lookNow) {
      payment.lookNow = false;
      if (await lookForPayment(flow, payment)) return 'paid';
    } else if (canGoOn()) {
      await goOnAsNew(flow, payment.input, (): PaymentCarried => ({ flow: flow.carry(), payment }));
    } else if (flow.deadlinePassed) {
      await lookAtInbox(flow);
      if (await lookForPayment(flow, payment)) return 'paid';
      // A person may have been quicker than the look, or wait longer.
      if (flow.deadlinePassed && flow.stop === null && !told()) expire();
    }
  }
}

function expire(): never {
  return endFlow('expired', 'deadline_passed', 'The deadline passed before the invoice was paid; nothing was moved.');
}
