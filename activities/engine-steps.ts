import type { Cause } from '../src/protocol/causes.js';
import type { ClaimState } from '../src/protocol/claim-table.js';
import type { ClaimSays, Repeat } from '../src/protocol/decisions.js';
import { claimSays } from '../src/protocol/claim-says.js';
import { NOT_CLOSED, ORDERED_BEFORE } from '../src/protocol/legal-orders.js';
import { openedIdOf } from '../src/protocol/events.js';
import { NEVER_RESERVED, sameFingerprint } from '../src/protocol/fingerprint.js';
import type { FlowEvent } from '../src/protocol/messages.js';
import type { ClaimOrder } from '../src/store/claim.js';
import { createClaimActivities, keyOf, type ClosingOrder, type PostOrdered, type UnsentOrder } from './claims.js';
import type { ActivityDeps } from './deps.js';
import { retryLater, storing, withFallback } from './failures.js';
import { createFlowStepActivities, laterSubmissionsOf } from './flow-steps.js';
import { createSettleActivities, type PostQuestion } from './settle-unknown.js';
import { readInbox } from './read-inbox.js';
import { createTurnedAwayActivities } from './turned-away.js';
import type { ClaimRef, FlowPreparation, PreparationOrder } from './types.js';
import { voidAll } from './void-all.js';

/** What a transaction on a claim answers, in the words of the flow. */
export interface ClaimAnswer extends Pick<ClaimState, 'sent'> {
  readonly claim: ClaimSays;
}

export interface AnotherSend extends ClaimAnswer {
  readonly isTaken: boolean;
  /** Why it was not taken, if that is not the claim's state. */
  readonly why?: Cause;
}

export interface FlowChecked {
  readonly prepared: FlowPreparation;
  /** By the name of the step. `isOther`: the claim under its reference is another request's. */
  readonly claims: Readonly<Record<string, ClaimAnswer & { readonly repeat: Repeat; readonly isOther?: true }>>;
  /** What the inbox holds, if an earlier run of the flow may have sent: that is not delivered again. */
  readonly events: readonly FlowEvent[];
}

export interface VoidOrder extends UnsentOrder {
  readonly reviewedEventIds: readonly string[];
  /** By their operation, as the flow knows them: what is so already is no news. */
  readonly known: Readonly<Record<string, ClaimAnswer>>;
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
  /** By their operation: claims of the flow of which this run does not know the terms. */
  readonly refs: Readonly<Record<string, ClaimRef>>;
}

/** The steps of the one engine (`workflows/engine`) that the store carries out: each answers with what the claim is then. */
export function createEngineActivities(deps: ActivityDeps) {
  const claimSteps = createClaimActivities(deps);
  const steps = createFlowStepActivities(deps);
  const turnedAway = createTurnedAwayActivities(deps);
  const settling = createSettleActivities(deps);
  const answerOf = (ref: ClaimRef): Promise<ClaimAnswer> => claimAnswerOf(deps, ref);

  const voidFlow = async (order: VoidOrder, isUnclear = false): Promise<Voided> => {
    const { isDone, claims: found, events } = await voidAll(deps, order);
    const read = Object.fromEntries(found.map(({ operation, ...state }) => [operation, toAnswer(state)]));
    const hasCome = events.some(({ id }) => !order.reviewedEventIds.includes(openedIdOf(id)));
    const isNews = Object.entries(read).some(([operation, claim]) => differs(claim, order.known[operation], order));
    if (!isDone && !hasCome && !isNews && !isUnclear)
      throw retryLater('not_voided', 'nothing shows yet whether its claims can be voided');
    return { isDone, claims: read, events, refs: isDone ? {} : await unknownTo(deps, order) };
  };

  return {
    /** Checks the input, and reads the flow's claims: an earlier run of it may have sent. */
    checkFlow: (order: PreparationOrder): Promise<FlowChecked> =>
      withFallback(async () => {
        const prepared = await withOrdered(deps, order.flowId, await steps.prepareFlow(order));
        return checkedClaims(deps, order, prepared);
      }),

    /**
     * Voids all claims of the flow, or none, in the transaction that reads its inbox. Tried again while nothing explains
     * why they are not void.
     */
    voidFlow: (order: VoidOrder): Promise<Voided> => voidFlow(order),

    /** The same after a lookup of what the service turned away; what that shows is written to the claim. */
    async voidTurnedAwayFlow(order: LookingVoidOrder): Promise<Voided> {
      const { reason, timeScale } = order;
      for (const question of order.questions) await settling.lookAtPost(question);
      let isUnclear = false;
      for (const claim of order.claims) {
        const found = await turnedAway.voidTurnedAway({ ...claim, reason, timeScale });
        isUnclear ||= found.isUnclear;
      }
      return voidFlow(order, isUnclear);
    },

    /** Opens a claim in `sending` for another send. `isTaken`: the next send may be made, also if none was ever marked. */
    async orderAnotherSend(order: PostOrdered): Promise<AnotherSend> {
      const isTaken = await claimSteps.orderSendAgain(order);
      const answer = { isTaken, ...(await answerOf(order)) };
      return isTaken || !(await wasCarriedOut(deps, order)) ? answer : { ...answer, why: ORDERED_BEFORE };
    },

    /** Takes an ordered send back: from then on nothing is sent under the claim. */
    async takeOrderBack(order: ClaimRef & { readonly order: ClaimOrder }): Promise<ClaimAnswer> {
      await claimSteps.holdBack(order);
      return answerOf(order);
    },

    /** A person declares that it was not executed. */
    async closeAsNotExecuted(order: PostOrdered): Promise<ClaimAnswer> {
      await claimSteps.closeNotExecuted(order);
      return answerOf(order);
    },

    /** A person decides how the flow ended: closes all of its claims, or none. Null: they are closed. */
    async closeByLastWord(order: ClosingOrder): Promise<Cause | null> {
      const [why] = await claimSteps.closeByOrder(order);
      return why === undefined ? null : NOT_CLOSED[why];
    },
  };
}

/** What an earlier run of the flow was ordered to pay, and may send yet: its input alone does not tell of it. */
async function withOrdered(deps: ActivityDeps, flowId: string, prepared: FlowPreparation): Promise<FlowPreparation> {
  const { steps } = prepared;
  const [first] = Object.values(steps);
  if (first === undefined) return prepared;
  const later = laterSubmissionsOf(flowId).filter(([name]) => !(name in steps));
  const found = await Promise.all(
    later.map(async ([name, { operation }]) => {
      const claim = { ...first.claim, operation };
      const known = await storing(() => deps.store.claims.get(keyOf(deps, claim)));
      if (known === undefined) return [];
      return [[name, { claim: { ...claim, fingerprint: known.fingerprint }, facts: first.facts, fixed: {} }] as const];
    }),
  );
  return { ...prepared, steps: { ...steps, ...Object.fromEntries(found.flat()) } };
}

/** An earlier run was ordered to send under them, and did so after this one had read its claims. */
async function unknownTo(deps: ActivityDeps, { flowId, claims: known }: VoidOrder): Promise<Voided['refs']> {
  const [first] = known;
  if (first === undefined) return {};
  const all = await storing(() => deps.store.claims.ofFlow(flowId));
  const others = all.filter((one) => !known.some((ref) => ref.operation === one.operation));
  return Object.fromEntries(
    others.map(({ operation, reference, fingerprint }) => [operation, { ...first, operation, reference, fingerprint }]),
  );
}

/** In an earlier run of the flow: Temporal applies an update again if the flow is reset to before it. */
async function wasCarriedOut(deps: ActivityDeps, order: PostOrdered): Promise<boolean> {
  const { id } = order.order;
  const before = id === undefined ? [] : await storing(() => deps.store.claims.orders(keyOf(deps, order)));
  return before.some((one) => one.id === id);
}

async function claimAnswerOf(deps: ActivityDeps, ref: ClaimRef): Promise<ClaimAnswer> {
  const found = await storing(() => deps.store.claims.get(keyOf(deps, ref)));
  return toAnswer(found ?? ABSENT);
}

const ABSENT: ClaimState = { phase: 'absent', sent: 'nothing' };

/** What was closed before it was reserved is of no request; and how much is refunded is decided later. */
async function isOfSame({ store }: ActivityDeps, known: string, { fingerprint }: ClaimRef): Promise<boolean> {
  if ([known, fingerprint].includes(NEVER_RESERVED) || sameFingerprint(known, fingerprint)) return true;
  // By a key that this process had not read when it made ours.
  if (await storing(() => store.refreshKeys())) throw retryLater('store_unavailable', 'the keys of the store changed');
  return false;
}

/** What the store knows of the flow's claims, and what came for it: an earlier run of it may have sent. */
export async function checkedClaims(
  deps: ActivityDeps,
  { flowId, wasReset }: Pick<PreparationOrder, 'flowId' | 'wasReset'>,
  prepared: FlowPreparation,
): Promise<FlowChecked> {
  const found = await Promise.all(
    Object.entries(prepared.steps).map(async ([step, { claim }]) => {
      const repeat = deps.repeatSettingOf(claim.operation);
      const known = await storing(() => deps.store.claims.get(keyOf(deps, claim)));
      if (known === undefined || (await isOfSame(deps, known.fingerprint, claim)))
        return [step, { ...toAnswer(known ?? ABSENT), repeat }] as const;
      // An earlier run may have sent it all the same: then nothing is certain, and a person looks at it.
      return [step, { ...toAnswer(wasReset ? known : ABSENT), repeat, isOther: true }] as const;
    }),
  );
  const isFirst = found.every(([, { claim, sent }]) => isUnsent(claim) && sent === 'nothing');
  const events = isFirst ? [] : await readInbox(deps, { flowId });
  return { prepared, claims: Object.fromEntries(found), events };
}

const toAnswer = ({ phase, sent }: ClaimState): ClaimAnswer => ({ claim: claimSays({ phase, sent }), sent });

const isUnsent = (claim: ClaimSays): boolean => claim === 'free' || claim === 'reserved';

function differs(now: ClaimAnswer, known: ClaimAnswer | undefined, { awaitsSend }: VoidOrder): boolean {
  if (now.claim === 'sending' && awaitsSend) return false;
  if (known === undefined || now.sent !== known.sent) return true;
  return now.claim !== known.claim && !(isUnsent(now.claim) && isUnsent(known.claim));
}
