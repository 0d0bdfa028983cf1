import type { StepTerms } from '../../activities/flow-step-terms.js';
import type { SubmitOutcome } from '../../activities/outcomes.js';
import { act } from '../steps/activities.js';
import { endFlow } from '../steps/flow-end.js';
import type { Flow } from '../steps/flow.js';
import type { SubmitAnswer } from '../steps/messages.js';
import { STORE, SUBMIT } from '../steps/policies.js';
import { settleUnknown } from '../steps/settle-unknown.js';
import { submitUnlessStopped, type GuardedClaim } from '../steps/stop.js';
import { hearPaymentEvents, stageReached, type Payment, type PaymentPlan } from './payment.js';

/**
 * Sends a payment's POST under its claim. Returns when the service is known to have it (by its answer, by the claim, by
 * the lookup, or by a trusted event); every other way ends the flow.
 */
export async function submitPayment(flow: Flow, payment: Payment, plan: PaymentPlan, later?: StepTerms): Promise<void> {
  const terms = later ?? payment.steps[plan.step];
  if (terms === undefined) throw new TypeError(`the step ${plan.step} was not prepared`);
  const { claim, facts } = terms;
  payment.facts = facts;
  flow.enter('submitting', `sending ${plan.noun}`);
  for (;;) {
    const outcome = await submitUnlessStopped(flow, claim, () =>
      plan.send === undefined
        ? act(SUBMIT, `Send ${plan.noun}, under its claim`, flow.timeScale).submitStep({
            flowId: flow.flowId,
            step: plan.step,
            input: payment.input,
          })
        : plan.send(flow, payment, terms),
    );
    switch (outcome.kind) {
      case 'accepted':
        return accepted(flow, payment, plan, claim, outcome.answer, outcome.recorded);
      case 'rejected':
        return rejected(flow, payment, plan, claim, outcome);
      case 'unknown':
      case 'duplicate':
        if ((await settle(flow, payment, plan, terms, outcome)) === 'proven') return;
        break;
      case 'other-request':
        return endFlow('failed', 'other_request_same_reference', OTHER_REQUEST);
      case 'void':
        return endFlow('failed', 'not_executed', `It was given up before (${outcome.reason}); nothing was sent.`);
      case 'quote-expired':
        return endFlow('failed', 'quote_rejected', 'The service says that the rate expired; nothing was moved.');
      case 'contradicted':
        throw new TypeError('this submit has no contradiction guard');
      default:
        return outcome satisfies never;
    }
  }
}

const OTHER_REQUEST =
  'Another request was made under this reference before. Nothing was sent for this one; use a new reference.';

/** The first POST of a flow is the one whose answer its starter waits for. */
function tellCallers(flow: Flow, payment: Payment, plan: PaymentPlan, answer: SubmitAnswer): void {
  flow.answer ??= answer;
  payment.told = { ...payment.told, [plan.step]: answer };
}

async function accepted(
  flow: Flow,
  payment: Payment,
  plan: PaymentPlan,
  claim: GuardedClaim,
  answer: unknown,
  recorded: boolean,
): Promise<void> {
  flow.money = { at: 'sent' };
  payment.answer = answer;
  flow.serviceReference ??= idOf(answer);
  payment.proven = true;
  tellCallers(flow, payment, plan, { kind: 'accepted', answer });
  flow.enter('tracking', `${plan.noun} accepted`, 'service');
  hearPaymentEvents(flow, payment, plan);
  if (!recorded) await act(STORE, 'Write the answer to its claim', flow.timeScale).recordAnswer({ ...claim, answer });
}

/** The service's own id of what it made, where its answer has one. */
function idOf(answer: unknown): string | null {
  const { id } = (typeof answer === 'object' && answer !== null ? answer : {}) as { id?: unknown };
  return typeof id === 'string' && id !== '' ? id : null;
}

async function rejected(
  flow: Flow,
  payment: Payment,
  plan: PaymentPlan,
  claim: GuardedClaim,
  outcome: Extract<SubmitOutcome, { kind: 'rejected' }>,
): Promise<never> {
  const { httpStatus, message, code } = outcome.rejection;
  if (!outcome.recorded) {
    await act(STORE, 'Write the refusal to its claim', flow.timeScale).recordRejection({ ...claim, ...outcome });
  }
  tellCallers(flow, payment, plan, { kind: 'rejected', httpStatus, message, code: code ?? null });
  return endFlow('failed', 'rejected_by_service', `The service refused ${plan.noun} (${httpStatus}): ${message}`);
}

async function settle(
  flow: Flow,
  payment: Payment,
  plan: PaymentPlan,
  { claim, facts }: StepTerms,
  outcome: Extract<SubmitOutcome, { kind: 'unknown' | 'duplicate' }>,
): Promise<'proven' | 'send-again'> {
  flow.money = { at: 'sent' };
  const why = outcome.kind === 'duplicate' ? 'the service knows this reference already' : outcome.reason;
  flow.enter('outcome-unknown', `${plan.noun} was sent, and its outcome is unknown (${why})`);
  hearPaymentEvents(flow, payment, plan);
  const settled = await settleUnknown(flow, {
    claim,
    windowMs: payment.windows.settleMs,
    // A repeat that the service answers with DUPLICATE proves that it has the first one.
    repeat: outcome.kind === 'duplicate' || plan.sendAgain === false ? 'unknown' : outcome.repeat,
    ...(plan.sendAgain === undefined ? {} : { sendAgain: plan.sendAgain }),
    proven: () => payment.proven,
    saidToExist: outcome.kind === 'duplicate',
    ...(outcome.kind === 'duplicate' ? {} : { refused: outcome.refused }),
    expect: facts,
  });
  switch (settled.kind) {
    case 'send-again':
      return 'send-again';
    case 'accepted':
      await accepted(flow, payment, plan, claim, settled.answer, true);
      return 'proven';
    case 'rejected':
      return rejected(flow, payment, plan, claim, { ...settled, owner: '', recorded: true });
    case 'proven':
      tellCallers(flow, payment, plan, { kind: 'none', reason: 'proven by an event, the answer itself was lost' });
      flow.enter(
        stageReached(payment, plan) ?? 'tracking',
        `a trusted event proves that the service has ${plan.noun}`,
        'service',
      );
      return 'proven';
    default:
      return settled satisfies never;
  }
}
