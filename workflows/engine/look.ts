import { condition } from '@temporalio/workflow';
import type { ParkReason } from '../../src/protocol/vocabulary.js';
import { LAST_LOOK, POLL, SETTLE_PATIENCE_MS } from './policies.js';
import { observed, within } from './waits.js';
import { act } from './activities.js';
import type { Flow } from './flow.js';
import { park } from './park.js';
import { meaningOf, paymentState, takeReading, type Payment, type TrackPlan } from './payment.js';
import type { Resolution } from './messages.js';

/** Looks the payment up until its status is one that is not known yet: one activity, however long it takes. */
export function pollStatus(flow: Flow, payment: Payment, plan: TrackPlan, firstLookMs: number, isParked = false) {
  const ignoredStatuses = payment.words.filter((word) => !saidByEvent(payment, plan, word));
  return observed(() =>
    act(POLL, `Look up ${plan.noun}`, flow.timeScale).awaitStatus({
      flowId: payment.lookUpAs ?? flow.flowId,
      input: payment.input,
      known: ignoredStatuses,
      firstLookMs,
      timeScale: flow.timeScale,
      isParked,
    }),
  );
}

/**
 * Parks, and keeps looking up the payment meanwhile: for decisions that the service may make unnecessary, whether or
 * not its webhooks arrive. `decided`: the payment's state has changed, or `also` holds.
 */
export async function parkAndLook(
  flow: Flow,
  payment: Payment,
  plan: TrackPlan,
  { reason, evidence }: { readonly reason: ParkReason; readonly evidence: Readonly<Record<string, unknown>> },
  also: () => boolean = () => false,
): Promise<Resolution | 'decided'> {
  const before = inWords(payment);
  const moved = () => inWords(payment) !== before || payment.otherRecord !== undefined || payment.mismatches.length > 0;
  const looking = observed(async () => {
    while (!moved()) await pollForChange(flow, payment, plan);
  });
  const decided = () => moved() || also();
  const lookAgain = () => lookOnce(flow, payment, plan, 'Ask once more').then(() => undefined);
  const decision = await park(flow, reason, evidence, decided, { lookAgain });
  looking.cancel();
  return decision;
}

/** Takes the service's current status; false if it could not be asked. */
export async function lookOnce(flow: Flow, payment: Payment, plan: TrackPlan, summary: string): Promise<boolean> {
  const order = { flowId: payment.lookUpAs ?? flow.flowId, input: payment.input };
  const found = await within(flow, SETTLE_PATIENCE_MS, () =>
    act(LAST_LOOK, summary, flow.timeScale)
      .lookAtStatus(order)
      .catch(() => undefined),
  );
  if (found?.says === 'shown') takeReading(flow, payment, plan, found.record);
  return found?.says === 'shown' || found?.says === 'absent';
}

/** An event cuts the wait short; the lookup that follows confirms its status. */
async function pollForChange(flow: Flow, payment: Payment, plan: TrackPlan): Promise<void> {
  payment.lookNow = false;
  const polling = pollStatus(flow, payment, plan, 0, true);
  // Bounded by `park`: the person's order, or a late event.
  // Bounded by the park around it, which takes orders and reminds.
  await condition(() => polling.settled() || payment.lookNow);
  if (polling.settled()) takeReading(flow, payment, plan, await polling.promise);
  else polling.cancel();
}

function inWords(payment: Payment): string {
  const now = paymentState(payment);
  return now.kind === 'ended' ? now.meaning : now.kind;
}

/** A status beyond `pending` that only an event reported so far: it is new when the lookup confirms it. */
function saidByEvent(payment: Payment, plan: TrackPlan, word: string): boolean {
  const meaning = meaningOf(payment, plan, word);
  return meaning !== 'pending' && !payment.provenMeanings.includes(meaning);
}
