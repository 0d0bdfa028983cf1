import type { StatusReading } from '../../activities/flow-step-terms.js';
import { tellsOfPayment } from '../../src/flows/meanings.js';
import { takeReading, type Payment } from '../payment/payment.js';
import { act } from '../steps/activities.js';
import type { Flow } from '../steps/flow.js';
import { LAST_LOOK, READ } from '../steps/policies.js';
import { unlessStopped } from '../steps/stop.js';
import { PAY } from './plans.js';

/**
 * Looks before anything is sent, and is true where the service shows a payment: somebody paid the invoice by its own
 * page, and to pay it again would charge twice. That payment is then followed as if it were ours.
 */
export async function lookForPayment(flow: Flow, payment: Payment): Promise<boolean> {
  const order = { flowId: flow.flowId, input: payment.input };
  const shown = await unlessStopped(flow, () =>
    act(READ, 'Look whether it is paid already', flow.timeScale).lookAtStatus(order),
  );
  return takePayment(flow, payment, shown);
}

/** The same at the deadline: a service that is down does not keep the flow. */
export async function lookForPaymentOnceMore(flow: Flow, payment: Payment): Promise<boolean> {
  const order = { flowId: flow.flowId, input: payment.input };
  try {
    return takePayment(
      flow,
      payment,
      await act(LAST_LOOK, 'Deadline: is it paid?', flow.timeScale).lookAtStatus(order),
    );
  } catch {
    flow.note('the service could not be asked at the deadline');
    return false;
  }
}

function takePayment(flow: Flow, payment: Payment, shown: StatusReading | null): boolean {
  if (shown === null || !tellsOfPayment(shown.status)) return false;
  flow.money = { at: 'sent' };
  flow.enter('tracking', 'the invoice was paid by another way; nothing was sent', 'service');
  takeReading(flow, payment, PAY, shown);
  const answer = { kind: 'none', reason: 'paid by another way' } as const;
  flow.answer ??= answer;
  payment.told = { ...payment.told, [PAY.step]: answer };
  return true;
}
