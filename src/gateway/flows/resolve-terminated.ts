import type { FlowWithMoney } from '../../protocol/gateway-json.js';
import type { Outcome } from '../../protocol/messages.js';
import { eventIdOf } from '../../flows/event-of-row.js';
import { flowOf } from '../../flows/index.js';
import { settleWindowMs } from '../../protocol/decisions.js';
import { classifyOfAnyKind, wordsThat, type Meaning } from '../../protocol/statuses.js';
import {
  isRefundReference,
  PARK_ACTIONS,
  refundReferenceOf,
  type ParkAction,
  type FlowState,
} from '../../protocol/vocabulary.js';
import { isOver, wasSent, type Claim, type ClaimKey, type ClaimPhase } from '../../store/claim.js';
import type { Store } from '../../store/store.js';
import { type FlowFacts, type FlowReader, viewOf } from '../../temporal/flow-handle.js';
import { FIRST_EPOCH } from '../../store/deployment.js';
import type { Caller } from '../http/bearer-token.js';
import type { FlowAddress } from '../http/flow-path.js';
import { Refusal, RETRY_AFTER_SECONDS } from '../http/refusal.js';
import { shownFlow } from './address.js';
import type { FlowOperationDeps } from './deps.js';
import { admitOrder, type GivenOrder } from './give-order.js';

/*
 * A flow that was terminated in the UI receives nothing any more; a decision about it is carried out on its claims, and
 * kept with them.
 */

/** The ending of a terminated flow by a person's order. */
const ENDINGS: Readonly<Partial<Record<string, Outcome['state']>>> = {
  'mark-completed': 'completed',
  'mark-refunded': 'refunded',
  'mark-failed': 'failed',
};

/** Orders that are legal for a flow whose claim is in that phase. A flow that was never sent cannot be marked. */
const LEGAL: Readonly<Record<ClaimPhase | 'absent', readonly ParkAction[]>> = {
  absent: ['close-not-executed'],
  reserved: ['close-not-executed'],
  sending: PARK_ACTIONS.terminated,
  answered: PARK_ACTIONS.terminated.filter((action) => action !== 'close-not-executed'),
  rejected: [],
  void: [],
};

/** Carries out an order about a terminated flow, which can no longer take orders itself. */
export async function resolveTerminated(
  deps: FlowOperationDeps,
  caller: Caller,
  address: FlowAddress,
  facts: FlowFacts,
  order: GivenOrder,
): Promise<{ readonly view: FlowWithMoney; readonly isProposed: boolean }> {
  const { reference, flowId } = address;
  const { action } = order;
  const { claims, proposals } = deps.store;
  const found = await claims.ofFlow(flowId);
  const before = await resolvedView(await shownFlow(deps.reader, address), deps.store);
  const actions = sendsMoney(address) ? await legalFor(deps.store, found) : [];
  if (!actions.some((legal) => legal === action)) {
    const legal = actions.length === 0 ? 'It waits for no decision now.' : `Legal now: ${actions.join(', ')}.`;
    throw new Refusal(409, `"${action}" is not possible for this terminated flow. ${legal}`, { reference, actions });
  }
  const { serviceTimeoutMs, timeScale } = deps.settings;
  const sentUntilMs = deps.nowMs() - settleWindowMs(serviceTimeoutMs) * timeScale;
  for (const claim of found) requireNotUnderWay(claim, sentUntilMs);
  const judged = await requireNoProofAgainst(deps.store, address, action);
  for (const claim of found) await requireServiceSaysNoOther(deps, claim, action);
  const admitted = await admitOrder(deps, caller, address, order, before);
  if (admitted === undefined) return { view: before, isProposed: true };
  const actor = admitted.second === null ? admitted.actor : `${admitted.actor} and ${admitted.second}`;
  const note = admitted.note ?? '';
  // Its epoch is not known here: a flow that was prepared before a restore may have sent, which is then only unknown.
  const unsent = { flowId, fingerprint: facts.fingerprint ?? '', epoch: FIRST_EPOCH };
  const possible = moneyOperationsOf(address, deps.settings.serviceAccount);
  if (action === 'close-not-executed') {
    for (const key of found) await claims.closeNotExecuted(key, { actor, note }, sentUntilMs);
    // What was not sent by now never is: not by a late attempt, nor after a reset in the UI.
    for (const key of distinct([...possible, ...found])) {
      const phase = await claims.voidUnsent(key, unsent, `${note} (${actor})`);
      if (!isOver(phase)) throw new Refusal(409, `Its claim is ${phase} now. Look at the flow again.`, { reference });
    }
  } else {
    // Judged again by the claims and the inbox as they are when it is recorded: an attempt may go on after a termination.
    const all = distinct([...possible, ...found]).map((key) => ({ key, ...unsent }));
    const meanings = CONTRADICTS[action as ParkAction] ?? [];
    const statuses = wordsThat((meaning) => meanings.includes(meaning));
    const unless = { flowId, statuses, besides: judged, sentUntilMs };
    const closed = await claims.closeByOrder(all, action, { actor, note }, unless);
    if (closed !== 'closed') {
      for (const claim of await claims.ofFlow(flowId)) requireNotUnderWay(claim, sentUntilMs);
      throw new Refusal(
        503,
        'An event that came in at this moment may say otherwise. Order it again.',
        { reference },
        RETRY_AFTER_SECONDS,
      );
    }
  }
  deps.logger.info({ flowId, order: action, actor }, 'a person resolved a terminated flow');
  if (admitted.proposal !== undefined) await proposals.end(admitted.proposal, true);
  // An event that came while the service was asked: the claims are closed, and a person marks how it ended.
  if (action === 'close-not-executed') await requireNoProofAgainst(deps.store, address, action);
  return { view: await shownFlow(deps.reader, address), isProposed: false };
}

/** A claim of the flow may be one that its kind may use. */
const distinct = (keys: readonly ClaimKey[]): readonly ClaimKey[] => {
  const nameOf = ({ operation, reference }: ClaimKey) => `${operation} ${reference}`;
  return [...new Map(keys.map((key) => [nameOf(key), key])).values()];
};

/** Many times as many trusted events as one flow gets. */
const MOST_PROOF = 200;

/**
 * Terminating a flow does not stop its POST: within the settle window neither a found nor a missing record shows how it
 * ends.
 *
 * @param sentUntilMs a POST that was sent before this time has had its whole window
 */
function requireNotUnderWay({ phase, operation, reference, ...claim }: Claim, sentUntilMs: number): void {
  if (phase !== 'sending') return;
  const leftMs = Date.parse(claim.sendingAt ?? claim.reservedAt) - sentUntilMs;
  if (leftMs <= 0) return;
  const seconds = Math.ceil(leftMs / 1_000);
  const underWay = `Its POST (${operation}) was sent a short time ago, and may still be under way.`;
  throw new Refusal(503, `${underWay} Order it again in ${seconds} seconds.`, { reference }, seconds);
}

/** Meanings of trusted events that contradict a person's order about how the flow ended. */
const CONTRADICTS: Readonly<Partial<Record<ParkAction, readonly Meaning[]>>> = {
  'mark-completed': ['refunded'],
  'mark-refunded': ['succeeded'],
  'mark-failed': ['succeeded', 'refunded'],
};

/**
 * Refuses a person's order if there is proof against it. If trusted events contradict one another, the person chooses
 * the ending; "not executed" is refused against any of them. Returns the ids of the events that were judged.
 */
async function requireNoProofAgainst(
  { inbox }: Pick<Store, 'inbox'>,
  { flowId, reference }: FlowAddress,
  action: string,
): Promise<readonly string[]> {
  if (await inbox.hasToMatch(reference)) {
    const waits = 'A webhook under its reference is still being matched, and may say otherwise. Order it again.';
    throw new Refusal(503, waits, { reference }, RETRY_AFTER_SECONDS);
  }
  const trusted = await inbox.list({ flowId, trusted: true, limit: MOST_PROOF });
  const meanings = trusted.map(({ status }) => classifyOfAnyKind(status));
  const isConflict = meanings.includes('succeeded') && meanings.includes('refunded');
  const against = isConflict ? [] : (CONTRADICTS[action as ParkAction] ?? []);
  const proof = trusted.find((_, index) => {
    const meaning = meanings[index];
    return action === 'close-not-executed' || (meaning !== undefined && against.includes(meaning));
  });
  if (proof === undefined) return trusted.map((row) => eventIdOf(row));
  const says = `The event ${proof.id}, which is proven, says ${proof.status ?? 'nothing final'} of it`;
  throw new Refusal(409, `${says}: the service has it. Check its events, then mark how it ended.`, { reference });
}

/**
 * Asks the service at this moment. A payment that it shows, or that cannot be looked up, is not closed as not executed;
 * and no ending is recorded that its status excludes.
 */
async function requireServiceSaysNoOther(
  { store, lookUp }: FlowOperationDeps,
  claim: Claim,
  action: string,
): Promise<void> {
  const phase = await phaseOf(store, claim);
  if (phase !== 'sending' && phase !== 'answered') return;
  const { reference, operation } = claim;
  const { says, status } = (await lookUp?.(operation, reference)) ?? { says: 'no-lookup' };
  if (action !== 'close-not-executed') {
    const isAgainst = CONTRADICTS[action as ParkAction]?.includes(endingOf(claim, status ?? null)) ?? false;
    if (says !== 'shown' || !isAgainst) return;
    throw new Refusal(409, `The service reports ${status} (${operation}): mark it as that.`, { reference });
  }
  if (says === 'shown') {
    throw new Refusal(409, `The service shows it under this reference (${operation}): mark how it ended.`, {
      reference,
    });
  }
  if (says === 'cannot-tell') {
    const again = 'Order it again when the service answers, or mark how it ended.';
    throw new Refusal(503, `The service cannot be asked now whether it has it. ${again}`, { reference }, 30);
  }
}

/**
 * What the record of a claim says about its flow: a refund of ours that arrived refunded it; otherwise it says nothing.
 */
function endingOf({ reference }: Claim, status: string | null): Meaning {
  const meaning = classifyOfAnyKind(status);
  if (!isRefundReference(reference)) return meaning;
  return meaning === 'succeeded' ? 'refunded' : 'pending';
}

/** A terminated flow with what its claims and persons recorded since. Other views are returned unchanged. */
export async function resolvedView(view: FlowWithMoney, store: Store): Promise<FlowWithMoney> {
  if (view.parked?.reason !== 'terminated') return view;
  if (!sendsMoney(view)) return { ...view, state: 'cancelled', parked: null, outcome: WATCH_ENDED };
  const claims = await store.claims.ofFlow(view.flowId);
  const outcome = (await decidedOutcome(store, claims)) ?? (await notExecuted(store, claims));
  if (outcome !== undefined) return { ...view, state: outcome.state, parked: null, outcome };
  const phases = Object.fromEntries(claims.map(({ operation, phase }) => [operation, phase]));
  return {
    ...view,
    parked: {
      ...view.parked,
      actions: await legalFor(store, claims),
      evidence: { ...view.parked.evidence, claims: phases },
    },
  };
}

/** A flow that only watches has no claim that could hold a person's decision, and needs none. */
const WATCH_ENDED: Outcome = {
  state: 'cancelled',
  reason: 'cancelled_before_sending',
  detail: 'It was terminated in the Temporal UI. It only watched, and moved no money.',
};

const sendsMoney = (address: Pick<FlowAddress, 'kind' | 'reference'>): boolean =>
  moneyOperationsOf(address, '').length > 0;

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
async function notExecuted(store: Pick<Store, 'inbox'>, claims: readonly Claim[]): Promise<Outcome | undefined> {
  if (claims.length === 0 || !claims.every(({ phase }) => isOver(phase))) return undefined;
  if (await isReported(store, claims)) return undefined;
  const why = claims.find(({ reason }) => reason !== undefined)?.reason ?? 'Nothing was executed.';
  return { state: 'failed', reason: 'not_executed', detail: why };
}

/** Something on the way may have sent it twice, and the refusal was of the second one. */
async function isReported({ inbox }: Pick<Store, 'inbox'>, [claim]: readonly Claim[]): Promise<boolean> {
  return claim !== undefined && (await inbox.list({ flowId: claim.flowId, trusted: true, limit: 1 })).length > 0;
}

async function legalFor(store: Store, claims: readonly Claim[]): Promise<readonly ParkAction[]> {
  const phases = await Promise.all(claims.map((claim) => phaseOf(store, claim)));
  // The claim that went furthest decides: an executed one cannot be closed as not executed.
  for (const phase of ['answered', 'sending', 'reserved'] as const) if (phases.includes(phase)) return LEGAL[phase];
  if (claims.length === 0) return LEGAL.absent;
  return (await isReported(store, claims)) ? LEGAL.answered : [];
}

/** A claim that is reserved for another send was in `sending` before, so it counts as `sending`. */
async function phaseOf(store: Pick<Store, 'claims'>, claim: Claim): Promise<ClaimPhase> {
  return claim.phase === 'reserved' && (await wasSent(store.claims, claim)) ? 'sending' : claim.phase;
}

/** Every claim that a flow of the kind may use. */
function moneyOperationsOf(
  { kind, reference }: Pick<FlowAddress, 'kind' | 'reference'>,
  account: string,
): readonly ClaimKey[] {
  if (kind === 'bridge-transfer') {
    return [
      { account, operation: 'createBridgeDeposit', reference },
      { account, operation: 'sendCrypto', reference: refundReferenceOf(reference) },
    ];
  }
  const submissions = Object.values(flowOf(kind).submissions ?? {});
  return submissions.map(({ operation }) => ({ account, operation, reference }));
}

export interface TerminatedDeps {
  readonly reader: Pick<FlowReader, 'facts'>;
  readonly store: Store;
}

/** Statuses of Temporal's visibility that may hide a decided flow. */
export const isTerminated = (status: string): boolean => status === 'TERMINATED' || status === 'TIMED_OUT';

/**
 * The state of a flow that visibility shows as terminated: a person may have decided it since, on its claims. Undefined
 * if that run is not its last one: a reset in the UI terminates a run, and continues as another.
 */
export async function stateOfTerminated(
  { reader, store }: TerminatedDeps,
  { workflowId, runId }: { readonly workflowId: string; readonly runId: string },
): Promise<FlowState | undefined> {
  const facts = await reader.facts(workflowId);
  if (facts === undefined || facts.runId !== runId) return undefined;
  return (await resolvedView(viewOf(facts, undefined), store)).state;
}
