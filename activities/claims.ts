import type { ClaimKey, ClaimOrder, ClaimPhase, KeptAnswer } from '../src/store/claim.js';
import type { ActivityDeps } from './deps.js';
import { storing, retryLater } from './failures.js';
import type { ClaimRef, Pin, PreparationOrder } from './types.js';
import type { Rejection } from '../src/protocol/messages.js';
import type { ParkAction } from '../src/protocol/vocabulary.js';

export interface UnsentOrder {
  readonly flowId: string;
  /** Operations that were executed, and moved nothing. */
  readonly done: readonly string[];
  readonly reason: string;
}

/** What a flow does to its claims between submits. All are safe to repeat. */
export function createClaimActivities(deps: ActivityDeps) {
  const { claims } = deps.store;
  const keyOf = ({ operation, reference }: ClaimRef): ClaimKey => ({ account: deps.account, operation, reference });

  /** The claim's key, for a worker of the flow's own deployment. */
  const own = async <T>(order: ClaimRef, act: (key: ClaimKey) => Promise<T>): Promise<T> => {
    await requireOwnDeployment(deps, order);
    return storing(() => act(keyOf(order)));
  };
  /** `claims` knows the epoch by itself: of an earlier one, an absent claim is unknown. */
  const unsent = ({ flowId, fingerprint, pin }: ClaimRef) => ({ flowId, fingerprint, epoch: pin.epoch });

  return {
    /** Absent or reserved and never sent → void; every other claim is left alone, and its phase returned. */
    voidClaim: (order: ClaimRef & { reason: string }): Promise<ClaimPhase> =>
      own(order, (key) => claims.voidUnsent(key, unsent(order), order.reason)),

    /**
     * For a flow that is about to end before its first send. Voids what an earlier run of it reserved and never sent;
     * returns the operations of which the POST may have been sent, without those that are `done`.
     */
    voidUnsentOf: ({ flowId, done, reason }: UnsentOrder): Promise<string[]> =>
      storing(async () => {
        const left: string[] = [];
        for (const { phase, fingerprint, ...key } of await claims.ofFlow(flowId)) {
          if (done.includes(key.operation)) continue;
          const now = phase === 'reserved' ? await claims.voidUnsent(key, { flowId, fingerprint }, reason) : phase;
          if (now !== 'void' && now !== 'rejected') left.push(key.operation);
        }
        return left;
      }),

    /** The answer is known, and could not be written when it came. */
    recordAnswer: (order: ClaimRef & { answer: unknown }): Promise<ClaimPhase | 'absent'> =>
      own(order, (key) => recordAnswer(deps, key, order.flowId, order.answer)),

    recordRejection: (order: ClaimRef & { owner: string; rejection: Rejection }): Promise<boolean> =>
      own(order, (key) => claims.recordRejection(key, order.owner, order.rejection)),

    /** True where the claim was in `sending` and may now be sent again, once; repeated, it finds that and says true. */
    async orderSendAgain(order: ClaimRef & { order: ClaimOrder }): Promise<boolean> {
      const { epoch } = await requireOwnDeployment(deps, order);
      return storing(async () => {
        const key = keyOf(order);
        if (await claims.orderSendAgain(key, deps.newOwner(), order.order)) return true;
        const claim = await claims.get(key);
        // No claim in the flow's own epoch: nothing was ever sent, and the next submit is the first one.
        return claim === undefined ? order.pin.epoch === epoch : claim.phase === 'reserved';
      });
    },

    /**
     * Another send that was ordered is off; a claim that is in `sending` or further is left alone. False where an attempt may
     * still send.
     */
    holdBack: (order: ClaimRef & { order: ClaimOrder }): Promise<boolean> =>
      own(order, async (key) => {
        await claims.recordDecision(key, 'held-back', order.order);
        return isUnsendable((await claims.get(key))?.phase);
      }),

    /**
     * A person decided how it ended: nothing is sent under this claim any more, not even after a reset of the flow. What was never
     * sent is void; what may have been sent is not sent again. The claim's phase: `reserved` where an attempt may still send.
     */
    closeByOrder: (order: ClaimRef & { action: ParkAction; order: ClaimOrder }): Promise<ClaimPhase> =>
      own(order, async (key) => {
        const phase = await claims.voidUnsent(key, unsent(order), order.order.note);
        await claims.recordDecision(key, order.action, order.order);
        return (await claims.get(key))?.phase ?? phase;
      }),

    /** `void` where it could be closed: by a person's word, or because the right to send was never asked for. */
    async closeNotExecuted(order: ClaimRef & { order: ClaimOrder }): Promise<ClaimPhase> {
      return own(order, async (key) => {
        if (await claims.closeNotExecuted(key, order.order)) return 'void';
        const phase = await claims.voidUnsent(key, unsent(order), order.order.note);
        // It was lost with its store: only now there is one that a person's word can be kept with.
        return phase === 'sending' && (await claims.closeNotExecuted(key, order.order)) ? 'void' : phase;
      });
    },
  };
}

const isUnsendable = (phase: ClaimPhase | undefined): boolean => phase !== undefined && phase !== 'reserved';

/**
 * For the flow's first activity: the deployment that the flow belongs to from now on. A flow that was reset may have sent in
 * an earlier epoch, and its claim may have been lost with the store: it counts as one of that epoch.
 */
export async function pinFor(deps: ActivityDeps, { wasReset }: PreparationOrder): Promise<Pin> {
  const pin = await pinOf(deps);
  return wasReset === true ? { ...pin, epoch: Math.max(FIRST_EPOCH, pin.epoch - 1) } : pin;
}

/** Of a store that was never restored. */
const FIRST_EPOCH = 1;

/** The deployment of this worker. */
export async function pinOf({ store, account }: Pick<ActivityDeps, 'store' | 'account'>): Promise<Pin> {
  const { id, epoch } = await storing(() => store.deployment.read());
  return { store: id, account, epoch };
}

/**
 * Before anything is done with a claim. A worker with another store knows nothing of it, and one of another account
 * would send it a second time: left to a worker of the flow's own deployment, however long that takes.
 */
export async function requireOwnDeployment(deps: ActivityDeps, claim: ClaimRef): Promise<Pin> {
  const ours = await pinOf(deps);
  const { pin, operation, reference } = claim;
  const problem =
    (pin.store !== ours.store && 'another store') ||
    (pin.account !== ours.account && `the account ${ours.account}, not ${pin.account}`) ||
    (pin.epoch > ours.epoch && `an older copy of the store (epoch ${ours.epoch}, not ${pin.epoch})`);
  if (problem === false) return ours;
  const message = `this worker has ${problem}: nothing is done`;
  deps.log.warn({ operation, reference, flowId: claim.flowId }, message);
  throw retryLater('other_deployment', message);
}

/** Before an answer a claim is in `sending`, or is to be sent again. In any other phase its flow said, or may have said, that nothing moved. */
const ALARMING: readonly (ClaimPhase | 'absent')[] = ['void', 'rejected', 'absent'];

/**
 * The service executed it, by whatever proof. Loudly where that contradicts what the claim said until now: money moved
 * under a flow that may have ended as failed.
 */
export async function recordAnswer(
  { store, log }: Pick<ActivityDeps, 'store' | 'log'>,
  key: ClaimKey,
  flowId: string,
  answer: unknown,
  kept?: KeptAnswer,
): Promise<ClaimPhase | 'absent'> {
  const before = await store.claims.recordAnswer(key, answer, kept);
  if (ALARMING.includes(before)) {
    const { operation, reference } = key;
    log.error({ alarm: 'late_answer_contradicts', flowId, operation, reference, claim: before }, 'ALARM');
  }
  return before;
}
