import type { StepTerms } from '../../activities/types.js';
import { SUBMIT, submitPolicy } from './policies.js';
import { act } from './activities.js';
import { decideMismatch, reviewedEvents, trustedSay } from './evidence.js';
import { endFlow } from './flow-end.js';
import { askForEnd, endVoid, VETOED } from './stop.js';
import type { Flow } from './flow.js';
import { submit } from './submit.js';
import {
  doubtDeclined,
  handlePaymentEvents,
  keepShown,
  rulesOf,
  stageReached,
  takeReading,
  type Payment,
  type PaymentPlan,
} from './payment.js';
import type { Post, Submitted } from './post.js';
import type { SubmitAnswer } from '../../src/protocol/messages.js';

/**
 * Sends a payment's POST under its claim. Returns when the service is known to have it (by its answer, by the claim, by
 * the lookup, or by a trusted event); every other result ends the flow.
 */
export async function submitPayment(flow: Flow, payment: Payment, plan: PaymentPlan): Promise<void> {
  const terms = payment.steps[plan.step];
  if (terms === undefined) throw new TypeError(`the step ${plan.step} was not prepared`);
  payment.facts = terms.facts;
  flow.enter('submitting', 'sending', `sending ${plan.noun}`);
  const submitted = await submit(flow, postOf(flow, payment, plan, terms));
  switch (submitted.kind) {
    case 'accepted':
      payment.maybeAnother ||= submitted.maybeAnother === true;
      if (submitted.isRepeat) doubtDeclined(payment, plan);
      return accepted(flow, payment, plan, submitted);
    case 'proven':
      payment.maybeAnother ||= submitted.maybeAnother === true;
      const by = payment.shownPaid === undefined ? 'an event' : 'the lookup, perhaps of another payment';
      answerCallers(flow, payment, plan, { kind: 'none', reason: `proven by ${by}, the answer itself was lost` });
      flow.enter(
        stageReached(payment, plan) ?? 'tracking',
        'proven',
        `${payment.shownPaid === undefined ? 'a trusted event' : 'its lookup'} proves that the service has ${plan.noun}`,
        'service',
      );
      if (payment.shownPaid?.reading !== undefined) takeReading(flow, payment, plan, payment.shownPaid.reading);
      return;
    case 'rejected': {
      if (await plan.paidAllTheSame?.(flow, payment)) return;
      if (flow.vetoed(true)) return askForEnd(flow, `the refusal of ${plan.noun}`, VETOED, true);
      const { httpStatus, message, code } = submitted.rejection;
      answerCallers(flow, payment, plan, { kind: 'rejected', httpStatus, message, code: code ?? null });
      return endFlow('failed', 'rejected_by_service', `The service refused ${plan.noun} (${httpStatus}): ${message}`);
    }
    case 'other-request':
      return endFlow('failed', 'other_request_same_reference', submitted.why);
    case 'void':
      if (await plan.paidAllTheSame?.(flow, payment)) return;
      return endVoid(flow, `It was given up before (${submitted.why}); nothing was sent.`);
    default:
      return submitted satisfies never;
  }
}

function postOf(flow: Flow, payment: Payment, plan: PaymentPlan, terms: StepTerms): Post {
  const order = () => ({ flowId: flow.flowId, step: plan.step, input: payment.input, pin: terms.claim.pin });
  return {
    claim: terms.claim,
    noun: plan.noun,
    async send(unasked) {
      // Bounded by the deadline, by submitUntilDeadline around Post.send.
      const outcome = await act(
        submitPolicy(SUBMIT, payment.windows),
        `Send ${plan.noun}, under its claim`,
        flow.timeScale,
      ).submitStep({
        ...order(),
        unasked,
        reviewedEventIds: reviewedEvents(flow, payment),
        mostMs: payment.windows.postMs,
      });
      if (outcome.kind === 'done-elsewhere') keepShown(payment, outcome.found);
      return outcome;
    },
    settleMs: payment.windows.settleMs,
    expect: terms.facts,
    fixed: terms.fixed,
    trusted: () => trustedSay(payment),
    shown: () => payment.shownPaid !== undefined,
    claimed: () => payment.unverified.length > 0,
    readEvents: () => handlePaymentEvents(flow, payment, plan),
    onUnknown: () => doubtDeclined(payment, plan),
    decideOther: () => decideMismatch(flow, payment, rulesOf(flow, payment, plan)),
    othersPay: plan.paidAllTheSame !== undefined,
  };
}

/** A flow's starter waits for the answer to the flow's first POST. */
function answerCallers(flow: Flow, payment: Payment, plan: PaymentPlan, answer: SubmitAnswer): void {
  flow.answer ??= answer;
  payment.answers = { ...payment.answers, [plan.step]: answer };
}

type Accepted = Extract<Submitted, { kind: 'accepted' }>;

function accepted(flow: Flow, payment: Payment, plan: PaymentPlan, { answer, other }: Accepted): void {
  payment.answer = answer;
  // A service that answers a repeated reference with its first result accepts what it never executes.
  if (other !== undefined) payment.otherRecord = other;
  flow.serviceReference ??= idOf(answer);
  payment.proven = true;
  const isOther = payment.otherRecord !== undefined;
  answerCallers(flow, payment, plan, isOther ? { kind: 'none', reason: 'conflict' } : { kind: 'accepted', answer });
  flow.enter(stageReached(payment, plan) ?? 'tracking', 'accepted', `${plan.noun} accepted`, 'service');
  handlePaymentEvents(flow, payment, plan);
}

/** The service's own id of the new record, if its answer has one. */
function idOf(answer: unknown): string | null {
  const { id } = (typeof answer === 'object' && answer !== null ? answer : {}) as { id?: unknown };
  return typeof id === 'string' && id !== '' ? id : null;
}
