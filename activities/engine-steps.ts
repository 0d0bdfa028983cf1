import type { Cause } from '../src/protocol/causes.js';
import type { ClaimState } from '../src/protocol/claim-table.js';
import type { ClaimSays, Repeat } from '../src/protocol/decisions.js';
import { claimSays } from '../src/protocol/claim-says.js';
import { NOT_CLOSED } from '../src/protocol/legal-orders.js';
import { openedIdOf } from '../src/protocol/events.js';
import type { FlowEvent } from '../src/protocol/messages.js';
import type { ClaimOrder } from '../src/store/claim.js';
import { createClaimActivities, keyOf, type ClosingOrder, type PostOrdered, type UnsentOrder } from './claims.js';
import type { ActivityDeps } from './deps.js';
import { retryLater, storing, withFallback } from './failures.js';
import { createFlowStepActivities } from './flow-steps.js';
import { createSettleActivities, type PostQuestion } from './settle-unknown.js';
import { createTurnedAwayActivities } from './turned-away.js';
import type { ClaimRef, FlowPreparation, PreparationOrder } from './types.js';
import { createVoidAllActivities } from './void-all.js';

/** What a transaction on a claim answers, in the words of the flow. */
export interface ClaimAnswer extends Pick<ClaimState, 'sent'> {
  readonly claim: ClaimSays;
}

export interface FlowChecked {
  readonly prepared: FlowPreparation;
  /** By the name of the step. */
  readonly claims: Readonly<Record<string, ClaimAnswer & { readonly repeat: Repeat }>>;
}

export interface VoidOrder extends UnsentOrder {
  readonly reviewedEventIds: readonly string[];
  /** A send of the flow runs: until it ends, its claim in `sending` is no news. */
  readonly awaitsSend: boolean;
  readonly timeScale: number;
}

export interface LookingVoidOrder extends VoidOrder {
  /** What is asked of the service about each of its requests. */
  readonly questions: readonly PostQuestion[];
}

export interface Voided {
  readonly isDone: boolean;
  /** By their operation. */
  readonly claims: Readonly<Record<string, ClaimAnswer>>;
  readonly events: readonly FlowEvent[];
}

/** The steps of the one engine (`workflows/core`) that the store carries out: each answers with what the claim is then. */
export function createEngineActivities(deps: ActivityDeps) {
  const { claims } = deps.store;
  const old = createClaimActivities(deps);
  const steps = createFlowStepActivities(deps);
  const ends = createVoidAllActivities(deps);
  const turnedAway = createTurnedAwayActivities(deps);
  const settling = createSettleActivities(deps);
  const answerOf = async (ref: ClaimRef): Promise<ClaimAnswer> => {
    const found = await storing(() => claims.get(keyOf(deps, ref)));
    return toAnswer(found ?? { phase: 'absent', sent: 'nothing' });
  };

  const voidFlow = async (order: VoidOrder, isNews: (claim: ClaimAnswer) => boolean): Promise<Voided> => {
    const { isDone, claims: found, events } = await ends.voidAll(order);
    const read = Object.fromEntries(found.map(({ operation, ...state }) => [operation, toAnswer(state)]));
    const hasCome = events.some(({ id, trusted }) => trusted && !order.reviewedEventIds.includes(openedIdOf(id)));
    if (!isDone && !hasCome && !Object.values(read).some(isNews))
      throw retryLater('not_voided', 'nothing shows yet whether its claims can be voided');
    return { isDone, claims: read, events };
  };

  return {
    /** Checks the input, and reads the flow's claims: an earlier run of it may have sent. */
    checkFlow: (order: PreparationOrder): Promise<FlowChecked> =>
      withFallback(async () => {
        const prepared = await steps.prepareFlow(order);
        const found = await Promise.all(
          Object.entries(prepared.steps).map(
            async ([step, { claim }]) =>
              [step, { ...(await answerOf(claim)), repeat: deps.repeatSettingOf(claim.operation) }] as const,
          ),
        );
        return { prepared, claims: Object.fromEntries(found) };
      }),

    /** Voids all claims of the flow, or none, in the transaction that reads its inbox. */
    voidFlow: (order: VoidOrder): Promise<Voided> =>
      voidFlow(order, ({ claim, sent }) => {
        if (claim === 'sending') return !order.awaitsSend;
        return claim !== 'free' && (claim !== 'reserved' || sent !== 'nothing');
      }),

    /**
     * The same after a lookup of what the service turned away; what that shows is written to the claim. Tried again while
     * nothing explains why they are not void.
     */
    async voidTurnedAwayFlow(order: LookingVoidOrder): Promise<Voided> {
      const { reason, timeScale } = order;
      for (const question of order.questions) await settling.lookAtPost(question);
      for (const claim of order.claims) await turnedAway.voidTurnedAway({ ...claim, reason, timeScale });
      return voidFlow(order, ({ claim }) => claim !== 'free' && claim !== 'reserved');
    },

    /** Opens a claim in `sending` for another send. `isTaken`: the next send may be made, also if none was ever marked. */
    async orderAnotherSend(order: PostOrdered): Promise<ClaimAnswer & { readonly isTaken: boolean }> {
      const isTaken = await old.orderSendAgain(order);
      return { isTaken, ...(await answerOf(order)) };
    },

    /** Takes an ordered send back: from then on nothing is sent under the claim. */
    async takeOrderBack(order: ClaimRef & { readonly order: ClaimOrder }): Promise<ClaimAnswer> {
      await old.holdBack(order);
      return answerOf(order);
    },

    /** A person declares that it was not executed. */
    async closeAsNotExecuted(order: PostOrdered): Promise<ClaimAnswer> {
      await old.closeNotExecuted(order);
      return answerOf(order);
    },

    /** A person decides how the flow ended: closes all of its claims, or none. Null: they are closed. */
    async closeByLastWord(order: ClosingOrder): Promise<Cause | null> {
      const [why] = await old.closeByOrder(order);
      return why === undefined ? null : NOT_CLOSED[why];
    },
  };
}

const toAnswer = ({ phase, sent }: ClaimState): ClaimAnswer => ({ claim: claimSays({ phase, sent }), sent });
