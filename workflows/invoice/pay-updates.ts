import { ActivityFailure, ApplicationFailure, condition } from '@temporalio/workflow';
import type { DescribedStep } from '../../activities/types.js';
import { sameFingerprint } from '../../src/protocol/fingerprint.js';
import { PAID_BY_ANOTHER_WAY, type PayOrder, type SubmitAnswer } from '../../src/protocol/messages.js';
import type { Payment } from '../engine/payment.js';
import { act } from '../engine/activities.js';
import { UPDATES } from '../../src/protocol/vocabulary.js';
import { admit } from '../engine/admit.js';
import type { Flow } from '../engine/flow.js';
import { payUpdate } from '../engine/messages.js';
import { PAY_ORDER_PATIENCE_MS, READ } from '../engine/policies.js';
import { within } from '../engine/waits.js';
import { checkOrder, onUpdate, orderRefused } from '../engine/park.js';
import { PAY } from './look-for-payment.js';

/** Takes orders to pay, by the update `pay`. */
export interface PayUpdates {
  /** Orders that came before this call wait for it. */
  serve(payment: Payment): void;
  /** Orders that wait for an answer: the flow must not continue as new under them. */
  busy(): boolean;
}

/**
 * One order is taken; a second one with the same content finds the first, and any other is refused. The caller gets the
 * service's answer.
 */
export function openPayUpdates(flow: Flow): PayUpdates {
  let served: Payment | undefined;
  let open = 0;
  const ended = () => flow.view().outcome !== null;

  async function take(given: PayOrder): Promise<SubmitAnswer> {
    const order = await admit(flow, { update: UPDATES.pay, action: 'pay' }, given, PAY_ORDER_PATIENCE_MS);
    // Bounded by the preparation of the flow, which ends at the deadline.
    await condition(() => served !== undefined || ended());
    if (served === undefined || ended()) throw orderRefused('flow_ended', ENDED);
    const payment = served;
    const { input, ...terms } = await describe(flow, payment, order);
    // If what came since its end was decided says otherwise, the flow goes on, and may be paid.
    // Bounded by the check of the end, which goes on, parks or ends.
    await condition(() => !flow.isEnding || flow.parked !== null || ended());
    const first = payment.steps[PAY.step];
    if (first !== undefined && !sameFingerprint(first.claim.fingerprint, terms.claim.fingerprint)) {
      throw orderRefused('other_request', 'Another payment of this invoice was ordered before. It stands.');
    }
    if (first === undefined) {
      if (flow.stop !== null || flow.isEnding || ended()) throw orderRefused('flow_ended', ENDED);
      if (payment.answers[PAY.step] !== undefined) throw orderRefused(PAID_BY_ANOTHER_WAY, PAID);
      payment.input = input;
      payment.steps = { ...payment.steps, [PAY.step]: terms };
      flow.note('pay-ordered', 'ordered to pay', order.actor);
      // The wait for this order has used up its time, so the payment gets a deadline of its own.
      flow.extendDeadline();
    }
    // Bounded by the flow, which parks or ends at its deadline.
    await condition(() => payment.answers[PAY.step] !== undefined || flow.parked !== null || ended());
    const answer = payment.answers[PAY.step];
    // The flow was about to end when the order came.
    const isUnsent = flow.money.at === 'unsent' || flow.stop !== null;
    if (answer === undefined && ended() && isUnsent) throw orderRefused('flow_ended', ENDED);
    return answer ?? { kind: 'none', reason: flow.parked?.reason ?? 'ended' };
  }

  onUpdate(
    flow,
    payUpdate,
    async (order) => {
      open += 1;
      return take(order).finally(() => (open -= 1));
    },
    checkOrder,
  );
  return {
    serve: (payment) => {
      served = payment;
    },
    busy: () => open > 0,
  };
}

const ENDED = 'The flow has ended.';
const PAID = 'The invoice is being paid in another way. This flow has sent nothing for this order.';

/** The flow's input, as if the order had come with it. */
function withOrder(input: unknown, { actor: _actor, proof: _proof, ...payment }: PayOrder): unknown {
  const before = input as { readonly pay: 'generated' | 'existing' };
  return before.pay === 'existing' ? { ...before, ...payment } : { ...before, payment };
}

/** An error in an order ends the order, and not the flow. */
async function describe(flow: Flow, payment: Payment, payOrder: PayOrder): Promise<DescribedStep> {
  try {
    const input = withOrder(payment.input, payOrder);
    const order = { flowId: flow.flowId, step: PAY.step, input, pin: payment.pin };
    const described = await within(
      flow,
      PAY_ORDER_PATIENCE_MS,
      () => act(READ, 'Check the order to pay', flow.timeScale).describeStep(order),
      () => flow.view().outcome !== null,
    );
    if (described === undefined) throw orderRefused('flow_ended', ENDED);
    return described;
  } catch (error) {
    if (!(error instanceof ActivityFailure) || !(error.cause instanceof ApplicationFailure)) throw error;
    const { type, message } = error.cause;
    throw ApplicationFailure.create({ type: type ?? 'invalid_input', message });
  }
}
