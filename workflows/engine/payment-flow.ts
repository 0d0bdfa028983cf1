import type { FlowReport } from '../../src/protocol/messages.js';
import type { FlowKind } from '../../src/protocol/vocabulary.js';
import { handedOn } from './activities.js';
import type { Flow } from './flow.js';
import {
  handlePaymentEvents,
  preparePayment,
  provenBy,
  type Payment,
  type PaymentCarried,
  type PaymentPlan,
  type TrackPlan,
} from './payment.js';
import { runFlow } from './run-flow.js';
import { submitPayment } from './submit-payment.js';
import { followedOn, isVetoed, trackPayment } from './track.js';

/** A payment that was made elsewhere: it is only tracked. */
export interface WatchPlan extends TrackPlan {
  /** The timeline's first entry. */
  readonly watching: string;
}

interface OwnSteps {
  /** After the input was checked, also in a run that continues another one. */
  readonly prepared?: (flow: Flow, payment: Payment) => void;
  /** Called after the service accepted the POST. */
  readonly submitted?: (flow: Flow, payment: Payment) => void;
}

/**
 * The workflow of a kind that is one payment: check the input, submit its POST under a claim, track it to its end. A
 * watched payment has no POST.
 */
export function paymentFlow(kind: FlowKind, plan: PaymentPlan | WatchPlan, own: OwnSteps = {}) {
  return (input: unknown, given?: PaymentCarried): Promise<FlowReport> => {
    const carried = handedOn(given);
    return runFlow(kind, input, carried?.flow, async (flow) => {
      if ('watching' in plan) flow.money = { at: 'elsewhere' };
      const payment = carried?.payment ?? (await preparePayment(flow, input));
      flow.proven = () => provenBy(payment, plan);
      flow.vetoed = (isRefused) => isVetoed(payment, plan, isRefused);
      flow.evidence = () => payment;
      flow.claims = () => Object.values(payment.steps).map(({ claim }) => claim);
      flow.overtaken = (ended) => followedOn(flow, payment, plan, ended);
      own.prepared?.(flow, payment);
      if (carried === undefined && 'step' in plan) {
        await submitPayment(flow, payment, plan);
        own.submitted?.(flow, payment);
      } else {
        if (carried === undefined && 'watching' in plan) flow.enter('tracking', 'watching', plan.watching);
        handlePaymentEvents(flow, payment, plan);
      }
      return trackPayment(flow, payment, plan);
    });
  };
}
