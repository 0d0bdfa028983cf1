import type { ClaimKey, ClaimOrder, ClaimPhase, Rejection } from '../src/store/claim.js';
import type { ActivityDeps } from './deps.js';
import { readFailure } from './failures.js';
import type { ClaimRef } from './outcomes.js';

/** What a flow does to its claims between submits. All are safe to repeat. */
export function createClaimActivities(deps: ActivityDeps) {
  const { claims } = deps.store;
  const keyOf = ({ operation, reference }: ClaimRef): ClaimKey => ({ account: deps.account, operation, reference });

  return {
    /** Absent or reserved and never sent → void; every other claim is left alone, and its phase returned. */
    voidClaim: (order: ClaimRef & { reason: string }): Promise<ClaimPhase> =>
      storing(() => claims.voidUnsent(keyOf(order), order, order.reason)),

    /** The answer is known, and could not be written when it came. */
    recordAnswer: (order: ClaimRef & { answer: unknown }): Promise<ClaimPhase | 'absent'> =>
      storing(() => claims.recordAnswer(keyOf(order), order.answer)),

    recordRejection: (order: ClaimRef & { owner: string; rejection: Rejection }): Promise<boolean> =>
      storing(() => claims.recordRejection(keyOf(order), order.owner, order.rejection)),

    /** True where the claim was in `sending` and may now be sent again, once; repeated, it finds that and says true. */
    async orderSendAgain(order: ClaimRef & { order: ClaimOrder }): Promise<boolean> {
      const done = await storing(() => claims.orderSendAgain(keyOf(order), deps.newOwner(), order.order));
      if (done) return true;
      const claim = await storing(() => claims.get(keyOf(order)));
      return claim?.phase === 'reserved';
    },

    /** `void` where it could be closed: by a person's word, or because nobody ever asked for the right to send. */
    async closeNotExecuted(order: ClaimRef & { order: ClaimOrder }): Promise<ClaimPhase> {
      if (await storing(() => claims.closeNotExecuted(keyOf(order), order.order))) return 'void';
      return storing(() => claims.voidUnsent(keyOf(order), order, order.order.note));
    },
  };
}

async function storing<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    throw readFailure(error);
  }
}
