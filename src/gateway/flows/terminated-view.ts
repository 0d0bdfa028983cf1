import type { FlowWithMoney } from '../../protocol/gateway-json.js';
import type { Outcome } from '../../protocol/messages.js';
import { moneyOperationsOf } from '../../flows/index.js';
import { endingsOf, type Ending } from '../../protocol/decisions.js';
import { TERMINATED_ORDERS } from '../../protocol/legal-orders.js';
import { classifyOfAnyKind } from '../../protocol/statuses.js';
import type { ParkAction } from '../../protocol/vocabulary.js';
import { isOver, type Claim, type ClaimPhase } from '../../store/claim.js';
import type { Store } from '../../store/store.js';
import { type FlowReader, viewOf } from '../../temporal/flow-handle.js';
import type { FlowAddress } from '../http/flow-path.js';

/* What a terminated flow shows: a person may have decided it since, on its claims. */

/** The ending of a terminated flow by a person's order. */
const ENDINGS: Readonly<Partial<Record<string, Outcome['state']>>> = {
  'mark-completed': 'completed',
  'mark-refunded': 'refunded',
  'mark-failed': 'failed',
};

/** A terminated flow with what its claims and persons recorded since. Other views are returned unchanged. */
export async function resolvedView(view: FlowWithMoney, store: Store): Promise<FlowWithMoney> {
  if (view.parked?.reason !== 'terminated') return view;
  if (!sendsMoney(view)) return { ...view, state: 'cancelled', parked: null, outcome: WATCH_ENDED };
  const claims = await store.claims.ofFlow(view.flowId);
  const outcome = (await decidedOutcome(store, claims)) ?? (await notExecuted(store, view.flowId, claims));
  if (outcome !== undefined) return { ...view, state: outcome.state, parked: null, outcome };
  const phases = Object.fromEntries(claims.map(({ operation, phase }) => [operation, phase]));
  const proven = endingsProven(await trustedEvents(store, view.flowId));
  return {
    ...view,
    parked: {
      ...view.parked,
      actions: await legalFor(store, view, claims),
      evidence: { ...view.parked.evidence, claims: phases, proven },
    },
  };
}

/** A flow that only watches has no claim that could hold a person's decision, and needs none. */
const WATCH_ENDED: Outcome = {
  state: 'cancelled',
  reason: 'cancelled_before_sending',
  detail: 'It was terminated in the Temporal UI. It only watched, and moved no money.',
};

export const sendsMoney = (address: Pick<FlowAddress, 'kind' | 'reference'>): boolean =>
  moneyOperationsOf(address).length > 0;

async function decidedOutcome(store: Store, claims: readonly Claim[]): Promise<Outcome | undefined> {
  const orders = (await Promise.all(claims.map((claim) => store.claims.orders(claim)))).flat();
  const last = orders.findLast(({ action }) => action in ENDINGS);
  const state = last === undefined ? undefined : ENDINGS[last.action];
  if (last === undefined || state === undefined) return undefined;
  const reason = state === 'failed' ? 'closed_by_person' : null;
  return { state, reason, detail: `Marked as ${state} by ${last.actor}: ${last.note}` };
}

/**
 * Claims that are all void or rejected, and no trusted event that reports the payment: nothing was executed, and nothing
 * ever will be.
 */
async function notExecuted(
  store: Pick<Store, 'inbox'>,
  flowId: string,
  claims: readonly Claim[],
): Promise<Outcome | undefined> {
  if (claims.length === 0 || !claims.every(({ phase }) => isOver(phase))) return undefined;
  if (await isReported(store, flowId)) return undefined;
  const why = claims.find(({ reason }) => reason !== undefined)?.reason ?? 'Nothing was executed.';
  return { state: 'failed', reason: 'not_executed', detail: why };
}

/** Something on the way may have sent it twice, and the refusal was of the second one. */
async function isReported({ inbox }: Pick<Store, 'inbox'>, flowId: string): Promise<boolean> {
  return (await inbox.list({ flowId, trusted: true, limit: 1, bodies: false })).length > 0;
}

/** Many times as many trusted events as one flow gets. */
const MOST_PROOF = 200;

/** What the service or the provider reported about a flow, and proved to be its own words. */
export const trustedEvents = ({ inbox }: Pick<Store, 'inbox'>, flowId: string) =>
  inbox.list({ flowId, trusted: true, limit: MOST_PROOF, bodies: false });

export const endingsProven = (events: readonly { readonly status: string | null }[]): readonly Ending[] =>
  endingsOf(events.map(({ status }) => classifyOfAnyKind(status)));

export async function legalFor(
  store: Store,
  { flowId }: Pick<FlowAddress, 'flowId'>,
  claims: readonly Claim[],
): Promise<readonly ParkAction[]> {
  const phases = claims.map(phaseOf);
  // The claim that went furthest decides: an executed one cannot be closed as not executed.
  for (const phase of ['answered', 'sending'] as const) if (phases.includes(phase)) return TERMINATED_ORDERS[phase];
  if (await isReported(store, flowId)) return TERMINATED_ORDERS.answered;
  if (phases.includes('reserved')) return TERMINATED_ORDERS.reserved;
  return claims.length === 0 ? TERMINATED_ORDERS.free : [];
}

/** A claim that is reserved for another send was in `sending` before, so it counts as `sending`. */
export const phaseOf = ({ phase, sent }: Claim): ClaimPhase =>
  phase === 'reserved' && sent !== 'nothing' ? 'sending' : phase;

export interface TerminatedDeps {
  readonly reader: Pick<FlowReader, 'facts'>;
  readonly store: Store;
}

/** Statuses of Temporal's visibility that may hide a decided flow. */
export const isTerminated = (status: string): boolean => status === 'TERMINATED' || status === 'TIMED_OUT';

/**
 * A flow that visibility shows as terminated: a person may have decided it since, on its claims. Undefined if that run is
 * not its last one: a reset in the UI terminates a run, and continues as another.
 */
export async function viewOfTerminated(
  { reader, store }: TerminatedDeps,
  { workflowId, runId }: { readonly workflowId: string; readonly runId: string },
): Promise<FlowWithMoney | undefined> {
  const facts = await reader.facts(workflowId);
  if (facts === undefined || facts.runId !== runId) return undefined;
  return resolvedView(viewOf(facts, undefined), store);
}
