import { condition } from '@temporalio/workflow';
import { endingsOf, endStep, type FinalMeaning } from '../../src/protocol/decisions.js';
import { isFinal, type Meaning } from '../../src/protocol/statuses.js';
import { isUnread, type Outcome } from '../../src/protocol/messages.js';
import type { ParkReason } from '../../src/protocol/vocabulary.js';
import { brief, selectedEvent } from './event-book.js';
import { endFromDecision, endFlow, FlowEnd } from './flow-end.js';
import { shownCause, type Cause, type CauseCode } from '../../src/protocol/causes.js';
import { VETOED } from './stop.js';
import { decideMismatch, trustClaimed } from './evidence.js';
import type { Flow } from './flow.js';
import { continueFlowAsNew, tooLong } from './run-flow.js';
import { askPerson, park } from './park.js';
import { lookOnce, parkAndLook, pollStatus } from './look.js';
import {
  meaningOf,
  rulesOf,
  paymentState,
  provenBy,
  takeReading,
  type Payment,
  type PaymentCarried,
  type TrackPlan,
} from './payment.js';
import { checkInbox, readInbox } from './inbox.js';
import type { OtherRecord } from '../../src/flows/echoes.js';

/**
 * Follows an accepted payment to its end. Events and polling race: an event is a hint that triggers a lookup, and the
 * lookup decides, if there is one; else trusted events that match decide. At the deadline the flow checks the status
 * once more, and then a person decides, or a late event does.
 */
export async function trackPayment(flow: Flow, payment: Payment, plan: TrackPlan): Promise<Outcome> {
  let lookedOnceMore = false;
  for (;;) {
    // Only if the flow itself has moved no money: it watches a payment that was started elsewhere.
    if (flow.stop !== null) throw new FlowEnd(flow.stop);
    const now = paymentState(payment);
    if (payment.mismatches.length > 0) await decideMismatch(flow, payment, rulesOf(flow, payment, plan));
    else if (payment.otherRecord !== undefined) return decideOtherRecord(flow, payment, plan, payment.otherRecord);
    else if (now.kind === 'conflict') return decideConflict(flow, payment);
    else if (now.kind === 'funds-held') await decideFundsHeld(flow, payment, plan);
    else if (now.kind === 'ended' && !(await failureConfirmed(flow, payment, plan, now.meaning))) continue;
    else if (now.kind === 'ended') return endOf(flow, payment, plan, now.meaning);
    else if (tooLong(flow))
      await continueFlowAsNew(flow, payment.input, (): PaymentCarried => ({ flow: flow.carry(), payment }));
    else if (!flow.deadlinePassed) await waitForChange(flow, payment, plan);
    else if (!lookedOnceMore) {
      lookedOnceMore = true;
      await checkStatusAtDeadline(flow, payment, plan);
    } else {
      lookedOnceMore = false;
      await decideOverdue(flow, payment, plan);
    }
  }
}

/**
 * Events come in any order, and an expired payment may be paid after all. So a failure that only events report counts
 * only after a while without contradiction.
 */
async function failureConfirmed(flow: Flow, payment: Payment, plan: TrackPlan, meaning: Meaning): Promise<boolean> {
  if (meaning !== 'failed' || plan.failureGraceMs === undefined) return true;
  const contradicted = () => !failureStands(payment);
  const summary = 'Is the failure contradicted?';
  if (await condition(contradicted, flow.scaled(plan.failureGraceMs), { summary })) return false;
  // An event against it may be in the inbox, and not have reached the flow.
  await readInbox(flow);
  return !contradicted();
}

function failureStands(payment: Payment): boolean {
  const now = paymentState(payment);
  return now.kind === 'ended' && now.meaning === 'failed' && payment.mismatches.length === 0;
}

async function waitForChange(flow: Flow, payment: Payment, plan: TrackPlan): Promise<void> {
  const hasWork = () =>
    payment.lookNow ||
    payment.mismatches.length > 0 ||
    paymentState(payment).kind !== 'open' ||
    flow.stop !== null ||
    tooLong(flow);
  if (!plan.hasLookup) return condition(() => hasWork() || flow.deadlinePassed);
  const untilLookMs = payment.words.length > 0 ? 0 : plan.firstLookMs;
  const firstLookMs = payment.lookNow || untilLookMs === 0 ? 0 : flow.scaled(untilLookMs);
  payment.lookNow = false;
  const polling = pollStatus(flow, payment, plan, firstLookMs);
  await condition(() => polling.settled() || hasWork() || flow.deadlinePassed);
  if (polling.settled()) takeReading(flow, payment, plan, await polling.promise);
  else polling.cancel();
}

async function checkStatusAtDeadline(flow: Flow, payment: Payment, plan: TrackPlan): Promise<void> {
  await checkInbox(flow);
  // This lookup answers the trigger: if it stayed set, it would end every wait for a person at once.
  payment.lookNow = false;
  if (!plan.hasLookup) return;
  const isAsked = await lookOnce(flow, payment, plan, 'Deadline: look once more');
  if (!isAsked) flow.note('not-asked', 'the service could not be asked at the deadline');
}

async function decideOverdue(flow: Flow, payment: Payment, plan: TrackPlan): Promise<void> {
  const claimed = payment.unverified.filter((event) => isFinal(meaningOf(payment, plan, event.status)));
  const evidence = {
    words: payment.words,
    claimed: claimed.map(brief),
  };
  const reason = whyOverdue(payment, plan, claimed.length > 0);
  const isDue = () => payment.mismatches.length > 0;
  const isDecided = () => paymentState(payment).kind !== 'open' || isDue();
  const decision = plan.hasLookup
    ? await parkAndLook(flow, payment, plan, { reason, evidence }, isDue)
    : await park(flow, reason, evidence, isDecided);
  if (decision === 'decided') return;
  if (decision.action === 'keep-waiting') return flow.extendDeadline(decision.until);
  if (decision.action !== 'trust-settlement') return endFromDecision(decision);
  const meant = selectedEvent(claimed, decision);
  if (meant !== undefined) trustClaimed(flow, payment, rulesOf(flow, payment, plan), meant);
}

function whyOverdue(payment: Payment, plan: TrackPlan, isClaimed: boolean): ParkReason {
  if (payment.provenMeanings.includes('refund-pending')) return 'refund_pending';
  return isClaimed && !plan.hasLookup ? 'unverified_settlement' : 'no_settlement';
}

/** Money was collected, and its purpose failed: not a failure, but a debt. The service may still pay it back. */
async function decideFundsHeld(flow: Flow, payment: Payment, plan: TrackPlan): Promise<void> {
  const why = 'the money was collected, and nothing shows that it was given back';
  const evidence = { words: payment.words, why, code: 'funds_held' satisfies CauseCode };
  const decision = await parkAndLook(flow, payment, plan, { reason: 'crypto_leg_failed', evidence });
  if (decision !== 'decided') endFromDecision(decision);
}

async function decideConflict(
  flow: Flow,
  payment: Payment,
  why: Cause = { code: 'proofs_exclude_one_another', text: 'what is proven excludes one another' },
): Promise<never> {
  const evidence = () => {
    const claimed = payment.unverified.map(brief);
    return { words: payment.words, ...shownCause(why), ...(claimed.length === 0 ? {} : { claimed }) };
  };
  return endFromDecision(await askPerson(flow, 'conflict', evidence));
}

/**
 * Events of that record come under our reference, too: what they prove is shown, and proves nothing about our payment.
 */
async function decideOtherRecord(flow: Flow, payment: Payment, plan: TrackPlan, found: OtherRecord): Promise<never> {
  const why = 'the record that the service has under this reference is of another payment';
  let shown = 0;
  flow.proven = () => provenBy(payment, plan).slice(shown);
  const evidence = () => {
    shown = provenBy(payment, plan).length;
    return { ...found, why, code: 'other_record' satisfies CauseCode, words: payment.words };
  };
  return endFromDecision(await askPerson(flow, 'conflict', evidence));
}

async function endOf(flow: Flow, payment: Payment, plan: TrackPlan, meaning: FinalMeaning): Promise<Outcome> {
  const word = payment.words.at(-1) ?? meaning;
  switch (meaning) {
    case 'succeeded':
      return {
        state: 'completed',
        reason: null,
        detail: `${capitalised(plan.noun)} succeeded (${word}).`,
      };
    case 'refunded':
      return { state: 'refunded', reason: null, detail: `${capitalised(plan.noun)} was refunded (${word}).` };
    case 'failed':
      if (isVetoed(payment, plan)) return decideConflict(flow, payment, VETOED);
      return endFlow('failed', 'failed_at_service', `${capitalised(plan.noun)} failed at the service (${word}).`);
    case 'refund-failed': {
      const evidence = { words: payment.words };
      const decision = await parkAndLook(flow, payment, plan, { reason: 'refund_failed', evidence });
      return decision === 'decided' ? trackPayment(flow, payment, plan) : endFromDecision(decision);
    }
    default:
      return meaning satisfies never;
  }
}

/** A failure is overtaken by an event that contradicts it, and was read last: the payment is followed on. */
export async function followedOn(
  flow: Flow,
  payment: Payment,
  plan: TrackPlan,
  ended: Outcome,
): Promise<Outcome | null> {
  const stands = ended.reason !== 'failed_at_service' || failureStands(payment);
  return stands ? null : trackPayment(flow, payment, plan);
}

/** If no lookup decides, an unverified event is enough to keep the flow from ending as failed by itself. */
export function isVetoed(payment: Payment, plan: TrackPlan, isRefused = false): boolean {
  const proven = endingsOf([...provenBy(payment, plan), ...(isRefused ? (['failed'] as const) : [])]);
  const claimed = endingsOf(payment.unverified.map(({ status }) => meaningOf(payment, plan, status)));
  const step = endStep({ proven, claimed, fundsHeld: 'absent' });
  const isUnclear = proven.includes('failed') && payment.unverified.some(({ facts }) => isUnread(facts));
  return !plan.hasLookup && (isUnclear || step.do === 'park');
}

const capitalised = (noun: string) => noun.charAt(0).toUpperCase() + noun.slice(1);
