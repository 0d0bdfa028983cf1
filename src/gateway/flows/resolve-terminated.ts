import type { FlowWithMoney } from '../../protocol/gateway-json.js';
import { eventIdOf } from '../../flows/event-of-row.js';
import { moneyOperationsOf } from '../../flows/index.js';
import { endingsOf, settleWindowMs, type Ending } from '../../protocol/decisions.js';
import { UNREADABLE } from '../../protocol/messages.js';
import { orderRefusal } from '../../protocol/legal-orders.js';
import { parkedMatterId } from '../../protocol/matters.js';
import { classifyOfAnyKind, wordsThat, type Meaning } from '../../protocol/statuses.js';
import { isRefundReference, type ParkAction } from '../../protocol/vocabulary.js';
import { isOver, type Claim, type ClaimKey } from '../../store/claim.js';
import type { Store } from '../../store/store.js';
import { NEVER_RESERVED } from '../../protocol/fingerprint.js';
import { FIRST_EPOCH } from '../../store/deployment.js';
import { asOrder, type Caller } from '../http/bearer-token.js';
import type { FlowAddress } from '../http/flow-path.js';
import { Refusal, RETRY_AFTER_SECONDS } from '../http/refusal.js';
import { shownFlow } from './address.js';
import type { FlowOperationDeps } from './deps.js';
import { admitOrder, type GivenOrder } from './give-order.js';
import { endingsProven, legalFor, phaseOf, resolvedView, sendsMoney, trustedEvents } from './terminated-view.js';

/*
 * A flow that was terminated in the UI receives nothing any more; a decision about it is carried out on its claims, and
 * kept with them.
 */

/** Carries out an order about a terminated flow, which can no longer take orders itself. */
export async function resolveTerminated(
  deps: FlowOperationDeps,
  caller: Caller,
  address: FlowAddress,
  order: GivenOrder,
): Promise<{ readonly view: FlowWithMoney; readonly isProposed: boolean }> {
  const { reference, flowId } = address;
  const { action } = order;
  const { claims, matters, proposals } = deps.store;
  const found = await claims.ofFlow(flowId);
  const before = await resolvedView(await shownFlow(deps.reader, address, asOrder(caller)), deps.store);
  const actions = sendsMoney(address) ? await legalFor(deps.store, address, found) : [];
  if (!actions.some((legal) => legal === action)) {
    const legal = actions.length === 0 ? 'It waits for no decision now.' : `Legal now: ${actions.join(', ')}.`;
    throw new Refusal(409, `"${action}" is not possible for this terminated flow. ${legal}`, {
      reference,
      code: 'unknown_action',
      actions,
    });
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
  const unsent = { flowId, fingerprint: NEVER_RESERVED, epoch: FIRST_EPOCH };
  const account = deps.settings.serviceAccount;
  const possible = moneyOperationsOf(address).map((made) => ({ account, ...made }));
  if (action === 'close-not-executed') {
    for (const key of found) await claims.closeNotExecuted(key, { actor, note }, { sentUntilMs });
    // What was not sent by now never is: not by a late attempt, nor after a reset in the UI.
    for (const key of distinct([...possible, ...found])) {
      const { phase } = await claims.voidUnsent(key, unsent, `${note} (${actor})`);
      if (!isOver(phase)) throw new Refusal(409, `Its claim is ${phase} now. Look at the flow again.`, { reference });
    }
  } else {
    // Judged again by the claims and the inbox as they are when it is recorded: an attempt may go on after a termination.
    const all = distinct([...possible, ...found]).map((key) => ({ key, ...unsent }));
    const meanings = judged.map(({ status }) => classifyOfAnyKind(status));
    const isAgainst = (meaning: Meaning) =>
      orderRefusal(action as ParkAction, endingsOf([...meanings, meaning]), endingsOf(meanings)) !== null;
    const besides = judged.map((row) => eventIdOf(row));
    const unless = { flowId, statuses: wordsThat(isAgainst), besides, sentUntilMs };
    const { kind: closed } = await claims.closeByOrder(all, action, { actor, note }, unless);
    if (closed !== 'closed') {
      for (const claim of await claims.ofFlow(flowId)) requireNotUnderWay(claim, sentUntilMs);
      throw new Refusal(
        503,
        'An event that came in at this moment may say otherwise. Order it again.',
        { reference, code: 'event_came' },
        RETRY_AFTER_SECONDS,
      );
    }
  }
  deps.logger.info({ flowId, order: action, actor }, 'a person resolved a terminated flow');
  if (admitted.proposal !== undefined) await proposals.end(admitted.proposal, true);
  // An event that came while the service was asked: the claims are closed, and a person marks how it ended.
  if (action === 'close-not-executed') await requireNoProofAgainst(deps.store, address, action);
  // If the store fails, the next reminder finds it decided.
  if (before.parked !== null) await matters.resolve(parkedMatterId(flowId, before.parked.since)).catch(() => undefined);
  return { view: await shownFlow(deps.reader, address, asOrder(caller)), isProposed: false };
}

/** A claim of the flow may be one that its kind may use. */
const distinct = (keys: readonly ClaimKey[]): readonly ClaimKey[] => {
  const nameOf = ({ operation, reference }: ClaimKey) => `${operation} ${reference}`;
  return [...new Map(keys.map((key) => [nameOf(key), key])).values()];
};

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
  throw new Refusal(
    503,
    `${underWay} Order it again in ${seconds} seconds.`,
    { reference, code: 'post_under_way' },
    seconds,
  );
}

/**
 * Refuses a person's order against what trusted events prove, as the flow itself would: of proofs that exclude one
 * another, the person decides between those that there are, which the flow shows. "Not executed" is refused against any
 * trusted event. Returns the events that were judged.
 */
async function requireNoProofAgainst(
  store: Pick<Store, 'inbox'>,
  { flowId, reference }: FlowAddress,
  action: string,
): Promise<Awaited<ReturnType<typeof trustedEvents>>> {
  if (await store.inbox.hasToMatch(reference)) {
    const waits = 'A webhook under its reference is still being matched, and may say otherwise. Order it again.';
    throw new Refusal(503, waits, { reference, code: 'event_being_matched' }, RETRY_AFTER_SECONDS);
  }
  const trusted = await trustedEvents(store, flowId);
  const refuses = (proven: readonly Ending[]) => orderRefusal(action as ParkAction, proven, proven) !== null;
  const isRefused = refuses(endingsProven(trusted));
  const proof = trusted.find(
    (event) => action === 'close-not-executed' || (isRefused && refuses(endingsProven([event]))),
  );
  if (proof === undefined) return trusted;
  const word = proof.status === UNREADABLE ? 'what cannot be read' : (proof.status ?? 'nothing final');
  const says = `The event ${proof.id}, which is proven, says ${word} of it`;
  throw new Refusal(409, `${says}: the service has it. Check its events, then mark how it ended.`, {
    reference,
    code: 'proven_otherwise',
  });
}

/**
 * Asks the service at this moment. A payment that it shows, or that cannot be looked up, is not closed as not executed;
 * and no ending is recorded that its status excludes.
 */
async function requireServiceSaysNoOther({ lookUp }: FlowOperationDeps, claim: Claim, action: string): Promise<void> {
  const phase = phaseOf(claim);
  if (phase !== 'sending' && phase !== 'answered') return;
  const { reference, operation } = claim;
  const { says, status } = (await lookUp?.(operation, reference)) ?? { says: 'no-lookup' };
  if (action !== 'close-not-executed') {
    // It was not proven before this moment; that the payment failed there does not show that it was not made otherwise.
    const proven = endingsOf([endingOf(claim, status ?? null)]);
    if (says !== 'shown' || orderRefusal(action as ParkAction, proven, proven) === null) return;
    const why = `The service reports ${status} (${operation}): mark it as that.`;
    throw new Refusal(409, why, { reference, code: 'proven_otherwise' });
  }
  if (says === 'shown') {
    throw new Refusal(409, `The service shows it under this reference (${operation}): mark how it ended.`, {
      reference,
      code: 'service_has_it',
    });
  }
  if (says === 'cannot-tell') {
    const again = 'Order it again when the service answers, or mark how it ended.';
    throw new Refusal(
      503,
      `The service cannot be asked now whether it has it. ${again}`,
      { reference, code: 'service_cannot_tell' },
      30,
    );
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
