import type { ClaimKey, ClaimOrder, ClaimPhase, Rejection } from '../src/store/claim.js';
import type { ActivityDeps } from './deps.js';
import { requireOwnDeployment } from './pin.js';
import { storing } from './failures.js';
import type { ClaimRef } from './outcomes.js';
import { recordAnswer } from './record-answer.js';

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

    /** The answer is known, and could not be written when it came. */
    recordAnswer: (order: ClaimRef & { answer: unknown }): Promise<ClaimPhase | 'absent'> =>
      own(order, (key) => recordAnswer(deps, key, order.flowId, order.answer)),

    recordRejection: (order: ClaimRef & { owner: string; rejection: Rejection }): Promise<boolean> =>
      own(order, (key) => claims.recordRejection(key, order.owner, order.rejection)),

    /** True where the claim was in `sending` and may now be sent again, once; repeated, it finds that and says true. */
    async orderSendAgain(order: ClaimRef & { order: ClaimOrder }): Promise<boolean> {
      return own(order, async (key) => {
        if (await claims.orderSendAgain(key, deps.newOwner(), order.order)) return true;
        return (await claims.get(key))?.phase === 'reserved';
      });
    },

    /** Another send that was ordered is off; a claim that is in `sending` or further is left alone. */
    holdBack: (order: ClaimRef & { order: ClaimOrder }): Promise<boolean> =>
      storing(() => claims.recordDecision(keyOf(order), 'held-back', order.order)),

    /** `void` where it could be closed: by a person's word, or because nobody ever asked for the right to send. */
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
