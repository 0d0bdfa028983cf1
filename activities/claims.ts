import type { ApplicationFailure } from '@temporalio/common';
import { isoTime, systemClock } from '../src/clock.js';
import type {
  BeforeAnswer,
  Claim,
  ClaimKey,
  ClaimOrder,
  ClaimPhase,
  KeptAnswer,
  SentLately,
  UnsentClaim,
} from '../src/store/claim.js';
import type { ActivityDeps } from './deps.js';
import { storing, retryLater } from './failures.js';
import { refusalStands, TURNED_AWAY } from '../src/protocol/decisions.js';
import type { NOT_CLOSED } from '../src/protocol/legal-orders.js';
import { statusLookupOf } from './status-lookups.js';
import type { ClaimRef, Pin, PreparationOrder } from './types.js';
import type { Profile } from '../src/protocol/live-operations.js';
import type { Rejection } from '../src/protocol/messages.js';
import { moneyOperationsOf } from '../src/flows/index.js';
import { NEVER_RESERVED } from '../src/protocol/fingerprint.js';
import { isRefundReference, parseFlowId, type EndReason, type ParkAction } from '../src/protocol/vocabulary.js';
import { FIRST_EPOCH } from '../src/store/deployment.js';

export interface UnsentOrder {
  readonly flowId: string;
  /** Claims that the flow may send under; its other claims are found as well. */
  readonly claims: readonly ClaimRef[];
  /** An earlier run of the flow may have sent. */
  readonly wasReset: boolean;
  /** Operations that were executed, and moved nothing. */
  readonly done: readonly string[];
  readonly reason: string;
}

/** A person's order about a POST that may have been sent; what was sent lately is left alone. */
export interface PostOrdered extends ClaimRef, SentLately {
  readonly order: ClaimOrder;
}

export interface ClosingOrder extends Pick<SentLately, 'windowMs'> {
  readonly flowId: string;
  /** Those that the flow may send under; others that it has are closed as well. */
  readonly claims: readonly ClaimRef[];
  /** An earlier run of the flow may have sent. */
  readonly wasReset: boolean;
  readonly action: ParkAction;
  readonly order: ClaimOrder;
  /** Status words that contradict the order: a proven event with one of them forbids it. */
  readonly against: readonly string[];
  /** Ids of the events that the flow has taken: the order was checked against them. */
  readonly reviewedEventIds: readonly string[];
}

/** An event that the flow has not taken, a webhook that may be one, or a POST that may be under way. */
export type WhyNotClosed = keyof typeof NOT_CLOSED;

export const keyOf = (deps: ActivityDeps, { operation, reference }: ClaimRef): ClaimKey => ({
  account: deps.account,
  operation,
  reference,
});

/** What a flow does to its claims between submits. All are safe to repeat. */
export function createClaimActivities(deps: ActivityDeps) {
  const { claims } = deps.store;
  /** The claim's key, for a worker of the flow's own deployment. */
  const own = async <T>(order: ClaimRef, act: (key: ClaimKey) => Promise<T>): Promise<T> => {
    await requireOwnDeployment(deps, order);
    return storing(() => act(keyOf(deps, order)));
  };
  /**
   * Closes a claim that is absent. If it was lost with its store, then only now there is a claim that can record the
   * person's order: no attempt has ever owned it, so nothing was sent under it since that order.
   */
  const isLost = async (key: ClaimKey, order: PostOrdered): Promise<boolean> => {
    await claims.voidUnsent(key, unsent(order), order.order.note);
    const claim = await claims.get(key);
    return claim?.phase === 'sending' && claim.owner === '';
  };

  return {
    /** Stores an answer that could not be written when it came. */
    recordAnswer: (order: ClaimRef & { answer: unknown }): Promise<ClaimPhase | 'absent'> =>
      own(order, (key) => recordAnswer(deps, key, order.flowId, order.answer)),

    recordRejection: (order: ClaimRef & { owner: string; rejection: Rejection }): Promise<boolean> =>
      own(order, async (key) => (await claims.recordRejection(key, order.owner, order.rejection)).isDone),

    /** True if the claim was in `sending` and may now be sent again, once. Repeating the call returns true as well. */
    async orderSendAgain(order: PostOrdered): Promise<boolean> {
      const { epoch } = await requireOwnDeployment(deps, order);
      return storing(async () => {
        const key = keyOf(deps, order);
        if ((await claims.orderSendAgain(key, deps.newOwner(), order.order, order)).isDone) return true;
        const claim = await claims.get(key);
        // Reserved for the send that this order, or another one, has ordered, and that was not made yet.
        if (claim !== undefined) return claim.phase === 'reserved';
        // No claim in the flow's own epoch: nothing was ever sent, and the next submit is the first one.
        if (order.pin.epoch === epoch) return true;
        return (await isLost(key, order)) && (await claims.orderSendAgain(key, deps.newOwner(), order.order)).isDone;
      });
    },

    /**
     * Cancels an ordered second send; leaves a claim in `sending` or further alone. False if an attempt may still send.
     */
    holdBack: (order: ClaimRef & { order: ClaimOrder }): Promise<boolean> =>
      own(order, async (key) => {
        const { phase } = await claims.recordDecision(key, 'held-back', order.order);
        return phase !== 'absent' && phase !== 'reserved';
      }),

    /**
     * A person decided how the flow ended: nothing is sent under its claims any more, not even after a reset of the
     * flow. Claims that were never sent become void; claims that may have been sent are not sent again. Returns why
     * nothing was closed; empty if all were.
     */
    closeByOrder: async (closing: ClosingOrder): Promise<readonly WhyNotClosed[]> => {
      const { flowId, claims: known, action, order, against, reviewedEventIds, windowMs } = closing;
      for (const claim of known) await requireOwnDeployment(deps, claim);
      const pin = await pinOf(deps);
      return storing(async () => {
        const ours = known.map((claim) => ({ key: keyOf(deps, claim), ...unsent(claim) }));
        const others = (await claims.ofFlow(flowId)).filter(isNoneOf(known));
        const named = [...ours, ...others.map(({ fingerprint, ...key }) => ({ key, flowId, fingerprint }))];
        const all = [...named, ...claimsToBe(flowId, pinOfRun(pin, closing), [...known, ...others])];
        const guard = { flowId, statuses: against, besides: reviewedEventIds, untaken: true };
        const unless = windowMs === undefined ? guard : { ...guard, windowMs };
        const { kind: closed } = await claims.closeByOrder(all, action, order, unless);
        return closed === 'closed' ? [] : [closed];
      });
    },

    /** `void` if the claim could be closed: by a person's order, or because it was never reserved. */
    async closeNotExecuted(order: PostOrdered): Promise<ClaimPhase> {
      return own(order, async (key) => {
        if ((await claims.closeNotExecuted(key, order.order, order)).isDone) return 'void';
        const isClosed = (await isLost(key, order)) && (await claims.closeNotExecuted(key, order.order)).isDone;
        return isClosed ? 'void' : ((await claims.get(key))?.phase ?? 'void');
      });
    },
  };
}

/** The store knows the current epoch: an absent claim of an earlier epoch is unknown. */
const unsent = ({ flowId, fingerprint, pin }: ClaimRef) => ({ flowId, fingerprint, epoch: pin.epoch });

/**
 * The claim of the run before the reset may have been lost with the store. Of claims that the order names, the epoch in
 * which they were prepared says so.
 */
export const mayBeLost = (
  { wasReset, claims }: Pick<UnsentOrder, 'wasReset' | 'claims'>,
  { epoch }: Pin,
  found: readonly Claim[],
) => found.length === 0 && claims.length === 0 && wasReset && epoch > FIRST_EPOCH;

/** The claims that a flow may send under, those that it has, and those that its kind may use; not those in `done`. */
export function unsentOf(
  deps: ActivityDeps,
  { flowId, claims: known, done, reason, wasReset }: UnsentOrder,
  pin: Pin,
  found: readonly Claim[],
) {
  const profile = known[0]?.pin ?? deps;
  const ours = known.map((claim) => ({ key: keyOf(deps, claim), ...unsent(claim) }));
  const others = found.filter(isNoneOf(known)).map(({ fingerprint, ...key }) => ({ key, flowId, fingerprint }));
  const ofKind = claimsToBe(flowId, pinOfRun(pin, { wasReset, claims: known }), [...known, ...found]);
  return [...ours, ...others, ...(REFUSED_INPUT.includes(reason) ? [] : ofKind)]
    .filter(({ key }) => !done.includes(key.operation))
    .map((claim) => ({ ...claim, ...believed(profile, claim.key) }));
}

/** Where nothing can show the contrary, the service's own word that it executed none of them is enough. */
function believed(profile: Profile, { operation }: Pick<ClaimKey, 'operation'>): Pick<UnsentClaim, 'turnedAway'> {
  const lookup = statusLookupOf(profile, operation) === undefined ? 'no-lookup' : 'cannot-tell';
  return refusalStands({ ...TURNED_AWAY, lookup }) ? { turnedAway: Number.MAX_SAFE_INTEGER } : {};
}

/** After a reset such a flow is refused again; anyone may start one, and must not close the claims of its reference. */
const REFUSED_INPUT: readonly string[] = ['invalid_input', 'plaintext_input'] satisfies EndReason[];

/** Claims that the flow's kind may use besides those that are known: they are closed, too, so that a reset sends nothing. */
function claimsToBe(flowId: string, { account, epoch }: Pin, known: readonly Made[]) {
  const flow = parseFlowId(flowId);
  const made = flow === undefined ? [] : moneyOperationsOf(flow);
  return made
    .filter(isNoneOf(known))
    .map((one) => ({ key: { account, ...one }, flowId, fingerprint: NEVER_RESERVED, epoch }));
}

type Made = Pick<ClaimKey, 'operation' | 'reference'>;

const isNoneOf =
  (known: readonly Made[]) =>
  ({ operation, reference }: Made): boolean =>
    !known.some((one) => one.operation === operation && one.reference === reference);

/**
 * For the flow's first activity: pins the deployment that the flow belongs to. A flow that was reset may have sent in
 * an earlier epoch, and its claim may have been lost with the store, so it counts as a flow of that earlier epoch.
 */
export async function pinFor(deps: ActivityDeps, { wasReset }: PreparationOrder): Promise<Pin> {
  const { live = [] } = deps;
  const pin = pinOfRun(await pinOf(deps), { wasReset: wasReset === true, claims: [] });
  return live.length === 0 ? pin : { ...pin, live };
}

/** Of an earlier run, if there may have been one: of the epoch of its claims, or of the epoch before this one. */
function pinOfRun(pin: Pin, { wasReset, claims }: Pick<ClosingOrder, 'wasReset' | 'claims'>): Pin {
  if (!wasReset) return pin;
  const epochs = claims.map((claim) => claim.pin.epoch);
  return { ...pin, epoch: epochs.length > 0 ? Math.min(...epochs) : Math.max(FIRST_EPOCH, pin.epoch - 1) };
}

/** The deployment of this worker. */
export async function pinOf({ store, account }: Pick<ActivityDeps, 'store' | 'account'>): Promise<Pin> {
  const { id, epoch } = await storing(() => store.deployment.read());
  return { store: id, account, epoch };
}

/**
 * Runs before anything is done with a claim. A worker with another store does not know the claim, and a worker of
 * another account would send a second time. So the step waits for a worker of the flow's own deployment, however long
 * that takes.
 */
export async function requireOwnDeployment(deps: ActivityDeps, claim: ClaimRef): Promise<Pin> {
  const ours = await pinOf(deps);
  if (differenceOf(claim.pin, ours) !== null) throw otherDeployment(deps, claim, ours);
  return ours;
}

/** The failure of a worker that is of another deployment than the flow of this claim. */
export function otherDeployment(deps: Pick<ActivityDeps, 'log'>, claim: ClaimRef, ours: Pin): ApplicationFailure {
  const { pin, operation, reference, flowId } = claim;
  const message = `this worker has ${differenceOf(pin, ours)}: nothing is done`;
  deps.log.warn({ operation, reference, flowId }, message);
  return retryLater('other_deployment', message);
}

function differenceOf(pin: Pin, ours: Pin): string | null {
  if (pin.store !== ours.store) return 'another store';
  if (pin.account !== ours.account) return `the account ${ours.account}, not ${pin.account}`;
  if (pin.epoch > ours.epoch) return `an older copy of the store (epoch ${ours.epoch}, not ${pin.epoch})`;
  return null;
}

/**
 * Before an answer a claim is in `sending`, or reserved for another send. In every other phase the flow may have said
 * that nothing moved.
 */
const ALARMING: readonly (ClaimPhase | 'absent')[] = ['void', 'rejected', 'absent'];

/** What an answer contradicts: the claim's phase, or what a person has said of the flow; null: nothing. */
function contradictedBy({ reference }: ClaimKey, { before, lastWord }: BeforeAnswer): string | null {
  if (ALARMING.includes(before)) return before;
  if (before === 'answered' || lastWord === null || lastWord === 'mark-refunded') return null;
  return lastWord === 'mark-completed' && !isRefundReference(reference) ? null : lastWord;
}

/**
 * Records that the service executed the POST. Raises an alarm if that contradicts the claim: money moved under a flow
 * that may have ended as failed.
 */
export async function recordAnswer(
  { store, log, clock = systemClock }: Pick<ActivityDeps, 'store' | 'log' | 'clock'>,
  key: ClaimKey,
  flowId: string,
  answer: unknown,
  kept?: KeptAnswer,
): Promise<ClaimPhase | 'absent'> {
  const found = await store.claims.recordAnswer(key, answer, kept);
  const claim = contradictedBy(key, found);
  if (claim !== null) {
    const { operation, reference } = key;
    log.error({ alarm: 'late_answer_contradicts', flowId, operation, reference, claim }, 'ALARM');
    const kind = 'late_answer_contradicts';
    const content = { kind, flowId, since: isoTime(clock), operation } as const;
    // The answer is written already, and matters more than this.
    await store.matters.open(`${kind}/${operation}/${flowId}`, content).catch(() => undefined);
  }
  return found.before;
}
