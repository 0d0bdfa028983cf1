import { condition } from '@temporalio/workflow';
import { shownCause, type Cause } from '../../src/protocol/causes.js';
import type { ClaimOrder, ClaimPhase } from '../../src/store/claim.js';
import { mayEndUnsent, saysMoneyMoved } from '../../src/protocol/decisions.js';
import type { Outcome, PersonOrder } from '../../src/protocol/messages.js';
import type { ClaimRef } from '../../activities/types.js';
import { observed, within } from './waits.js';
import { act, wasReset } from './activities.js';
import { endFromDecision, FlowEnd } from './flow-end.js';
import { brief } from './event-book.js';
import type { Flow } from './flow.js';
import { provenOf, readInbox } from './inbox.js';
import { askPerson, park } from './park.js';
import { READ, SETTLE_PATIENCE_MS, STOP_AGAIN_MS, STOP_TRIES, STORE, STORE_PATIENCE_MS } from './policies.js';

/**
 * Tries to stop the flow before its money moves. A claim that is absent or only reserved is voided, so that no attempt,
 * however late, can send. Returns why it was refused, or null when the flow is going to stop.
 */
export async function tryStop(flow: Flow, state: 'cancelled' | 'expired', order: PersonOrder): Promise<Cause | null> {
  flow.stopping += 1;
  const why = await stopUnsent(flow, state, order).finally(() => (flow.stopping -= 1));
  // The claim may be void, or become so.
  if (why === STORE_UNAVAILABLE || why === BEING_DECIDED) flow.unsureStop = stoppedBy(state, order);
  return why;
}

/**
 * Ends a flow whose claim turned out to be void: by a stop that was refused because the store did not answer, and that
 * the store carried out after all, or else as given up.
 */
export function endVoid(flow: Flow, detail: string): never {
  throw new FlowEnd(flow.unsureStop ?? { state: 'failed', reason: 'not_executed', detail });
}

async function stopUnsent(flow: Flow, state: 'cancelled' | 'expired', order: PersonOrder): Promise<Cause | null> {
  if (flow.money.at === 'unsent' || flow.money.at === 'claimed') {
    // Claims are voided last: a stop that is refused must leave them as they are. A webhook may come meanwhile.
    const why =
      (await flow.beforeStop?.()) ??
      (await whyMoved(flow)) ??
      whyTooLate(flow) ??
      (await whyMaybeSent(flow, state)) ??
      whatWasMoved(flow);
    if (why !== null) return why;
  }
  const late = whyTooLate(flow);
  if (late !== null) return late;
  // No await before this decision: the flow must not schedule a submit between it and the mark.
  if (flow.money.at === 'unsent' || flow.money.at === 'elsewhere') {
    flow.stop ??= stoppedBy(state, order);
    return null;
  }
  if (flow.money.at === 'claimed') {
    const voided = await voidUnsent(flow, flow.money.claim, state);
    if (voided === undefined) return STORE_UNAVAILABLE;
    if (voided) {
      const why = flow.money.at === 'claimed' ? whyTooLate(flow) : MAY_HAVE_MOVED;
      if (why === null) flow.stop ??= stoppedBy(state, order);
      else flow.unsureStop = stoppedBy(state, order);
      return why;
    }
  }
  return MAY_HAVE_MOVED;
}

/** What came since a person's order closes the claims is judged by that order alone. */
const whyTooLate = (flow: Flow): Cause | null =>
  flow.view().outcome !== null ? HAS_ENDED : flow.resolution !== null ? BEING_DECIDED : null;

/** Why the flow cannot be stopped, if that is known already; null: `tryStop` decides. */
export function whyNoStop(flow: Flow): Cause | null {
  if (flow.view().outcome !== null) return HAS_ENDED;
  return flow.money.at === 'sent' ? MAY_HAVE_MOVED : null;
}

const NEVER_ASKED: Cause = {
  code: 'never_asked',
  text: 'it was started elsewhere, and could not be asked how it ended',
};
const HAS_ENDED: Cause = { code: 'flow_ended', text: 'it has ended' };
const BEING_DECIDED: Cause = { code: 'other_order_under_way', text: 'an order of a person is being carried out' };
const MAY_HAVE_MOVED: Cause = { code: 'money_may_have_moved', text: 'money may have moved already' };
const STORE_UNAVAILABLE: Cause = {
  code: 'store_unavailable',
  text: 'the store cannot say now whether money moved',
};

/**
 * Why money may have moved although this run has sent nothing: an earlier run of the flow may have sent it, before a
 * reset in the UI or under an id that is used again. Claims that that run only reserved are voided. Null: nothing was
 * sent.
 */
export async function whyMaybeSent(flow: Flow, reason: string): Promise<Cause | null> {
  const { money } = flow;
  if (money.at !== 'unsent') return null;
  const order = {
    flowId: flow.flowId,
    claims: flow.claims(),
    done: money.done ?? [],
    reason,
    wasReset: wasReset(),
  };
  const left = await within(flow, STORE_PATIENCE_MS, () =>
    act(STORE, 'Void what was never sent', flow.timeScale).voidUnsentOf(order),
  );
  if (left === undefined) return STORE_UNAVAILABLE;
  if (left.length === 0) return null;
  const text = `money may have moved in an earlier run of the flow (${left.join(', ')})`;
  return { code: 'earlier_run_may_have_sent', text };
}

/** What an end says besides that nothing moved. */
interface EndSays {
  /** It does not deny that the service has it. */
  readonly mayBeReported?: boolean;
  /** It is the service's refusal. */
  readonly isRefused?: boolean;
}

/**
 * What trusted events, including those in the inbox, prove against an end that says that nothing moved; null: nothing.
 */
export async function whyMoved(flow: Flow, patienceMs = STORE_PATIENCE_MS, says: EndSays = {}): Promise<Cause | null> {
  if (!(await readInbox(flow, patienceMs))) return STORE_UNAVAILABLE;
  return whatWasMoved(flow, says);
}

/** If its kind has no lookup, an untrusted event is enough to keep a flow from ending as failed by itself. */
export const VETOED: Cause = {
  code: 'unverified_event_against_it',
  text: 'an unverified event claims another ending, or cannot be read',
};

/** The same, of the events that the flow has taken. */
export function whatWasMoved(flow: Flow, { mayBeReported = false, isRefused = false }: EndSays = {}): Cause | null {
  if (saysMoneyMoved(provenOf(flow))) return { code: 'money_moved', text: 'it is proven that money moved' };
  if (flow.vetoed(isRefused)) return VETOED;
  if (flow.evidence().mismatches.length > 0) return OTHER_REPORTED;
  return !mayBeReported && isReported(flow) ? REPORTED : null;
}

const OTHER_REPORTED: Cause = {
  code: 'event_reports_other_payment',
  text: 'a trusted event reports another payment under its reference',
};
const REPORTED: Cause = { code: 'event_reports_it', text: 'a trusted event says that the service has it' };

/** Early events have not acted yet. What was started elsewhere is reported, and was moved by no flow. */
function isReported(flow: Flow): boolean {
  if (flow.money.at === 'elsewhere') return false;
  return flow.evidence().proven || flow.book.waiting().some(({ trusted }) => trusted);
}

/** Whether the claim could be voided, so that nothing was executed and nothing ever will be; undefined: not known now. */
export async function voidUnsent(flow: Flow, claim: ClaimRef, reason: string): Promise<boolean | undefined> {
  const asked = await within(flow, STORE_PATIENCE_MS, () => voidNeverSent(flow, claim, reason));
  const phase =
    asked === 'reserved' ? await within(flow, SETTLE_PATIENCE_MS, () => voidTurnedAway(flow, claim, reason)) : asked;
  if (phase === undefined) return undefined;
  const rest = {
    lookup: 'cannot-tell',
    trusted: 'nothing',
    untrusted: false,
    saidToExist: false,
    overdue: false,
  } as const;
  return phase === 'void' && mayEndUnsent({ ...rest, claim: phase, windowOver: true });
}

export async function voidNeverSent(flow: Flow, claim: ClaimRef, reason: string): Promise<ClaimPhase> {
  // Bounded by its callers, which run it inside `within` or `observed`.
  return act(STORE, 'Void the claim, if nothing was sent', flow.timeScale).voidClaim({ ...claim, reason });
}

/** The service says that it executed nothing of it: its lookup must not show anything either. */
export async function voidTurnedAway(flow: Flow, claim: ClaimRef, reason: string): Promise<ClaimPhase> {
  const order = { ...claim, reason, timeScale: flow.timeScale };
  // Bounded by its callers, which run it inside `within` or `observed`.
  return act(READ, 'Void the claim, if the service shows nothing', flow.timeScale).voidTurnedAway(order);
}

function stoppedBy(state: 'cancelled' | 'expired', order: PersonOrder): Outcome {
  if (state === 'expired') {
    return { state, reason: 'deadline_passed', detail: 'The deadline passed before any money moved.' };
  }
  const note = order.note === undefined ? '' : ` (${order.note})`;
  const detail = `Cancelled by ${order.actor}${note} before any money moved.`;
  return { state, reason: 'cancelled_before_sending', detail };
}

/**
 * Runs a step that moves nothing; a stop order or the deadline ends the flow instead. A person is asked if it is not
 * known by the deadline that nothing was sent.
 */
export async function unlessStopped<T>(flow: Flow, step: () => Promise<T>): Promise<T> {
  const { promise, settled, cancel } = observed(step);
  await condition(() => settled() || flow.stop !== null || flow.deadlinePassed);
  if (flow.money.at === 'elsewhere' && !settled() && flow.stop === null) {
    // It may have been paid: once the step is done, the flow asks how it ended. Until then a person may know.
    const decision = await park(flow, 'step_failed', shownCause(NEVER_ASKED), settled);
    if (decision !== 'decided') endFromDecision(decision);
    if (!settled()) return unlessStopped(flow, () => promise);
  }
  if (!settled()) {
    cancel();
    const why = flow.stop === null ? await tryStop(flow, 'expired', { actor: 'deadline' }) : null;
    if (why !== null) return askForEnd(flow, 'the wait before the first send', why);
  }
  if (flow.stop !== null) throw new FlowEnd(flow.stop);
  return promise;
}

/** A step that can never succeed says nothing about money sent before it: the flow does not fail by itself. */
export async function askForEnd(flow: Flow, step: string, why: Cause, isRefused = false): Promise<never> {
  const isAgainst = whatWasMoved(flow, { mayBeReported: true, isRefused }) !== null;
  const reason = isAgainst ? 'conflict' : 'step_failed';
  const evidence = () => {
    const claimed = flow.evidence().unverified.map(brief);
    return { step, ...shownCause(why), ...(claimed.length === 0 ? {} : { claimed }) };
  };
  return endFromDecision(await askPerson(flow, reason, evidence));
}

/**
 * Runs a submit, or a step on the way to it, until the deadline. Before the first send a stop order or the deadline
 * ends the flow, once its claim is void. Undefined: past the deadline it is unknown whether it was sent, and it is not
 * tried any more.
 */
export async function submitUntilDeadline<T>(
  flow: Flow,
  claim: ClaimRef,
  submit: () => Promise<T>,
): Promise<T | undefined> {
  const isRepeat = flow.money.at === 'sent';
  if (!isRepeat) {
    if (flow.stop !== null) throw new FlowEnd(flow.stop);
    flow.money = { at: 'claimed', claim };
  }
  const { promise, settled, cancel } = observed(submit);
  const isOver = () => settled() || flow.stop !== null;
  await condition(() => isOver() || flow.deadlinePassed);
  if (isRepeat && !isOver()) await holdBack(flow, claim, BY_DEADLINE);
  const mostTries = isRepeat ? 0 : STOP_TRIES;
  for (let tries = 0; tries < mostTries && !isOver(); tries += 1) {
    // An attempt may be in progress: if it turns out not to have been sent, the next one must not send.
    await tryStop(flow, 'expired', { actor: 'deadline' });
    if (isOver()) break;
    await condition(isOver, flow.scaled(STOP_AGAIN_MS * 2 ** tries), { summary: 'Try again to stop the submit' });
  }
  // Its cancellation is not an outcome of it, and may come while a stop is awaited.
  const isDone = settled();
  if (!isDone) cancel();
  await unlessStopping(flow);
  if (isDone) return promise;
  flow.money = { at: 'sent' };
  return undefined;
}

/** An attempt may see the claim voided by a stop before the flow does. The stop's ending was promised to its person. */
export async function unlessStopping(flow: Flow): Promise<void> {
  // Bounded by tryStop, which asks store and service for a bounded time.
  await condition(() => flow.stopping === 0);
  if (flow.stop !== null) throw new FlowEnd(flow.stop);
}

const BY_DEADLINE: ClaimOrder = { actor: 'deadline', note: 'not sent again by the deadline' };

/**
 * Cancels an ordered second send: its claim goes back to `sending`, from which nothing is sent, not even after a reset
 * of the flow in the UI.
 */
export async function holdBack(flow: Flow, claim: ClaimRef, order: ClaimOrder): Promise<void> {
  const isHeld = await within(flow, STORE_PATIENCE_MS, () =>
    act(STORE, 'Take back the order to send again', flow.timeScale).holdBack({ ...claim, order }),
  );
  if (isHeld !== true) flow.note('may-still-send', 'an attempt that is under way may still send');
}
