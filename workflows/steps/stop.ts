import { CancellationScope, condition, patched } from '@temporalio/workflow';
import type { PersonOrder } from '../../src/flows/messages.js';
import { STOP_AGAIN_PATCH } from '../../src/flows/vocabulary.js';
import { act } from './activities.js';
import { endFlow, FlowEnd } from './flow-end.js';
import type { Flow } from './flow.js';
import { STOP_AGAIN_MS, STORE } from './policies.js';

/** Which claim stands between the flow and its money, once a submit was scheduled. */
export interface GuardedClaim {
  readonly operation: string;
  readonly reference: string;
  readonly flowId: string;
  readonly fingerprint: string;
}

/**
 * Where the flow stands with its money: nothing was scheduled that could send (`unsent`); a submit is under way, and the
 * claim tells (`claimed`); money may have moved (`sent`).
 */
export type MoneyPhase =
  { readonly at: 'unsent' } | { readonly at: 'claimed'; readonly claim: GuardedClaim } | { readonly at: 'sent' };

/**
 * Tries to stop the flow before its money moves. A claim that is absent or only reserved is voided, so that no attempt,
 * however late, can send. Returns why it was refused, or null when the flow is going to stop.
 */
export async function tryStop(flow: Flow, state: 'cancelled' | 'expired', order: PersonOrder): Promise<string | null> {
  // No await before this decision: the story must not schedule a submit between it and the mark.
  if (flow.money.at === 'unsent') {
    markStopped(flow, state, order);
    return null;
  }
  if (flow.money.at === 'claimed') {
    const phase = await act(STORE, 'Void the claim, if nothing was sent', flow.timeScale).voidClaim({
      ...flow.money.claim,
      reason: state,
    });
    if (phase === 'void') {
      markStopped(flow, state, order);
      return null;
    }
  }
  return 'money may have moved already';
}

function markStopped(flow: Flow, state: 'cancelled' | 'expired', order: PersonOrder): void {
  const note = order.note === undefined ? '' : ` (${order.note})`;
  flow.stop ??=
    state === 'cancelled'
      ? {
          state,
          reason: 'cancelled_before_sending',
          detail: `Cancelled by ${order.actor}${note} before any money moved.`,
        }
      : { state, reason: 'deadline_passed', detail: 'The deadline passed before any money moved.' };
}

/** Runs a step that moves nothing; a stop order or the deadline ends the flow instead. */
export async function unlessStopped<T>(flow: Flow, step: () => Promise<T>): Promise<T> {
  const { promise, settled, cancel } = observed(step);
  await condition(() => settled() || flow.stop !== null || flow.deadlinePassed);
  if (!settled()) {
    cancel();
    if (flow.stop === null) await tryStop(flow, 'expired', { actor: 'deadline' });
  }
  if (flow.stop !== null) throw new FlowEnd(flow.stop);
  if (!settled()) return endFlow('expired', 'deadline_passed', 'The deadline passed before any money moved.');
  return promise;
}

/**
 * Runs a submit. A stop order or the deadline ends the flow only after the claim was voided; where it cannot be voided,
 * the submit's own outcome is awaited. Once an earlier send may have reached the service, nothing stops the flow any
 * more: an unsent repeat says nothing about the first one.
 */
export async function submitUnlessStopped<T>(flow: Flow, claim: GuardedClaim, submit: () => Promise<T>): Promise<T> {
  if (flow.money.at === 'sent') return submit();
  if (flow.stop !== null) throw new FlowEnd(flow.stop);
  flow.money = { at: 'claimed', claim };
  const { promise, settled, cancel } = observed(submit);
  const isOver = () => settled() || flow.stop !== null;
  await condition(() => isOver() || flow.deadlinePassed);
  if (!isOver()) await tryStop(flow, 'expired', { actor: 'deadline' });
  if (!isOver() && patched(STOP_AGAIN_PATCH)) await stopSometime(flow, isOver);
  if (flow.stop !== null) {
    cancel();
    throw new FlowEnd(flow.stop);
  }
  return promise;
}

/**
 * An attempt was on its way to the service at the deadline. Where it turns out not to have been sent, the next one must
 * not be, however late it comes: so the claim is voided between two of them.
 */
async function stopSometime(flow: Flow, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    const over = await condition(isOver, flow.scaled(STOP_AGAIN_MS), { summary: 'Try again to stop the submit' });
    if (!over) await tryStop(flow, 'expired', { actor: 'deadline' });
  }
}

export interface Observed<T> {
  readonly promise: Promise<T>;
  readonly settled: () => boolean;
  readonly cancel: () => void;
}

/** A step under its own scope, whose end can be seen by a condition. */
export function observed<T>(step: () => Promise<T>): Observed<T> {
  const scope = new CancellationScope();
  const state = { settled: false };
  const promise = scope.run(step);
  const mark = () => {
    state.settled = true;
  };
  promise.then(mark, mark);
  return { promise, settled: () => state.settled, cancel: () => scope.cancel() };
}
