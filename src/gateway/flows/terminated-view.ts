import type { FlowWithMoney, Outcome } from '../../api/flow.js';
import { PAID_BY_ANOTHER_WAY } from '../../protocol/messages.js';
import { moneyOperationsOf } from '../../flows/index.js';
import { ENDINGS, endingsOf, type Ending } from '../../protocol/decisions.js';
import { classifyOfAnyKind } from '../../protocol/statuses.js';
import type { ParkAction } from '../../protocol/vocabulary.js';
import { isOver, type Claim } from '../../store/claim.js';
import type { Store } from '../../store/store.js';
import { type FlowReader, viewOf } from '../../temporal/flow-handle.js';

/* What a terminated flow shows: how its claims are, and what it will do when it is resumed. It decides nothing here. */

/** A terminated flow with its claims, and what resuming it means. Other views are returned unchanged. */
export async function resolvedView(view: FlowWithMoney, store: Store): Promise<FlowWithMoney> {
  if (view.parked?.reason !== 'terminated') return view;
  if (moneyOperationsOf(view).length === 0) return { ...view, state: 'cancelled', parked: null, outcome: WATCH_ENDED };
  const claims = await store.claims.ofFlow(view.flowId);
  const trusted = await trustedEvents(store, view.flowId);
  const outcome = (await closedAs(store, claims)) ?? (trusted.length === 0 ? notExecuted(claims) : undefined);
  if (outcome !== undefined) return { ...view, state: outcome.state, parked: null, outcome };
  const phases = Object.fromEntries(claims.map(({ operation, phase }) => [operation, phase]));
  const proven = endingsOf(trusted.map(({ status }) => classifyOfAnyKind(status)));
  const evidence = { ...view.parked.evidence, claims: phases, proven, resume: whatResumes(claims) };
  return { ...view, parked: { ...view.parked, evidence } };
}

/** A flow that only watches has no claim. */
const WATCH_ENDED: Outcome = {
  state: 'cancelled',
  reason: 'cancelled_before_sending',
  detail: 'It was terminated in the Temporal UI. It only watched, and moved no money.',
};

/** Many times as many trusted events as one flow gets. */
const MOST_PROOF = 200;

/** What the service or the provider reported about a flow, and proved to be its own words. */
export const trustedEvents = ({ inbox }: Pick<Store, 'inbox'>, flowId: string) =>
  inbox.list({ flowId, trusted: true, limit: MOST_PROOF, bodies: false });

/** The order that says how a flow ended. */
export const MARK_OF = {
  completed: 'mark-completed',
  failed: 'mark-failed',
  refunded: 'mark-refunded',
} as const satisfies Record<Ending, ParkAction>;

/** What an admin, or the flow itself by the order of a person, has closed its claims as. */
async function closedAs(store: Store, claims: readonly Claim[]): Promise<Outcome | undefined> {
  const orders = (await Promise.all(claims.map((claim) => store.claims.orders(claim)))).flat();
  const stateOf = (action: string) => ENDINGS.find((ending) => MARK_OF[ending] === action);
  const last = orders.findLast(({ action }) => stateOf(action) !== undefined);
  const state = stateOf(last?.action ?? '');
  if (last === undefined || state === undefined) return undefined;
  const reason = state === 'failed' ? 'closed_by_person' : null;
  return { state, reason, detail: `Closed as ${state} by ${last.actor}: ${last.note}` };
}

/**
 * Claims that are all void or rejected, of a flow of which no trusted event reports a payment: nothing was executed, and
 * nothing ever will be. Something on the way may have sent it twice, and the refusal was of the second one.
 */
function notExecuted(claims: readonly Claim[]): Outcome | undefined {
  if (claims.length === 0 || !claims.every(({ phase }) => isOver(phase)) || isPaidByOthers(claims)) return undefined;
  const why = claims.find(({ reason }) => reason !== undefined)?.reason ?? 'Nothing was executed.';
  return { state: 'failed', reason: 'not_executed', detail: why };
}

/** The flow voided its claim for that, and follows their payment. */
const isPaidByOthers = (claims: readonly Claim[]): boolean =>
  claims.some(({ reason }) => reason === PAID_BY_ANOTHER_WAY);

function whatResumes(claims: readonly Claim[]): string {
  if (isPaidByOthers(claims)) return 'others have paid it: their payment is followed';
  if (claims.some(({ phase }) => phase === 'answered')) return 'the service has it: its status is followed';
  if (claims.some(({ phase, sent }) => phase === 'reserved' && sent === 'unknown'))
    return 'another send was ordered, and not made: it is made';
  if (claims.some(({ phase, sent }) => phase === 'sending' || sent !== 'nothing'))
    return 'it may have been sent: the service is asked, and it is not sent again without an order';
  return 'as far as its claims say nothing was sent: it is sent';
}

export interface TerminatedDeps {
  readonly reader: Pick<FlowReader, 'facts'>;
  readonly store: Store;
}

/** Statuses of Temporal's visibility of a flow that did not end by itself. */
export const isTerminated = (status: string): boolean => status === 'TERMINATED' || status === 'TIMED_OUT';

/**
 * A flow that visibility shows as terminated, with its claims. Undefined if that run is not its last one: a reset in the
 * UI terminates a run, and continues as another; and one that was resumed runs again.
 */
export async function viewOfTerminated(
  { reader, store }: TerminatedDeps,
  { workflowId, runId }: { readonly workflowId: string; readonly runId: string },
): Promise<FlowWithMoney | undefined> {
  const facts = await reader.facts(workflowId);
  if (facts === undefined || facts.runId !== runId) return undefined;
  return resolvedView(viewOf(facts, undefined), store);
}
