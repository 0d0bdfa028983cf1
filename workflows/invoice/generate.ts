import type { Payment } from '../payment/payment.js';
import { submitPayment } from '../payment/submit.js';
import { act } from '../steps/activities.js';
import { differences, pick } from '../steps/facts.js';
import { endFlow, FlowEnd } from '../steps/flow-end.js';
import type { Flow } from '../steps/flow.js';
import { park } from '../steps/park.js';
import { READ } from '../steps/policies.js';
import { unlessStopped } from '../steps/stop.js';
import { GENERATE } from './plans.js';

/** Generates the invoice, and reads it: a service that knew the reference may hand over an invoice of another amount. */
export async function generateInvoice(flow: Flow, payment: Payment): Promise<void> {
  await submitPayment(flow, payment, GENERATE);
  // An invoice that nobody has paid has moved nothing.
  flow.money = { at: 'unsent' };
  const shown = await unlessStopped(flow, () =>
    act(READ, 'Read the invoice', flow.timeScale).lookAtStep({
      flowId: flow.flowId,
      step: GENERATE.step,
      input: payment.input,
    }),
  );
  const theirs = shown.says === 'shown' ? shown.facts : {};
  const differs = differences(payment.facts, theirs);
  if (differs.length === 0) return flow.enter('generated', 'the invoice can be paid', 'service');

  const evidence = { differs, ours: pick(payment.facts, differs), theirs: pick(theirs, differs) };
  const decision = await park(flow, 'duplicate_mismatch', evidence, () => flow.stop !== null, {
    without: ['mark-refunded'],
  });
  if (flow.stop !== null) throw new FlowEnd(flow.stop);
  if (decision === 'decided') throw new TypeError('nothing was decided');
  endFlow('failed', 'not_executed', `Closed without a payment by ${decision.actor}: ${decision.note}`);
}
