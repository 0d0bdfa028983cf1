import type { FastifyInstance } from 'fastify';
import { eventIdOf } from '../../flows/event-of-row.js';
import { moneyOperationsOf } from '../../flows/index.js';
import { endingsOf, settleWindowMs } from '../../protocol/decisions.js';
import { NEVER_RESERVED } from '../../protocol/fingerprint.js';
import { FlowParams } from '../../api/flow.js';
import { CloseBody, type ClosedAs, ClosedClaims } from '../../api/operations.js';
import { NOT_CLOSED, orderRefusal } from '../../protocol/legal-orders.js';
import { parkedMatterId } from '../../protocol/matters.js';
import { classifyOfAnyKind, wordsThat, type Meaning } from '../../protocol/statuses.js';
import { isRefundReference, type ParkAction } from '../../protocol/vocabulary.js';
import { isOver, type Claim, type ClaimKey } from '../../store/claim.js';
import { FIRST_EPOCH } from '../../store/deployment.js';
import { viewOf } from '../../temporal/flow-handle.js';
import type { FlowOperationDeps } from '../flows/deps.js';
import { recordingRefusals } from '../flows/give-order.js';
import { isTerminated, MARK_OF, trustedEvents } from '../flows/terminated-view.js';
import { whoIs } from '../http/bearer-token.js';
import { addressOf, type FlowAddress } from '../http/flow-path.js';
import { Refusal, RETRY_AFTER_SECONDS } from '../http/refusal.js';
import { addRoute } from '../http/route.js';

/** `POST …/close-claims`: of a flow that Temporal does not run any more, and that nothing else can end. */
export function addCloseClaimsRoute(server: FastifyInstance, deps: FlowOperationDeps): void {
  addRoute(server, {
    method: 'POST',
    params: FlowParams,
    path: '/flows/:kind/:reference/close-claims',
    operationId: 'closeClaims',
    tag: 'operations',
    summary: 'Closes the claims of a flow that Temporal does not have any more, or that was terminated.',
    description: 'Nothing is sent under them from then on. Refused while a POST may be under way, and against proof.',
    permission: 'close-claims',
    body: { schema: { CloseBody }, required: true, example: { as: 'not-executed', note: 'they do not have it' } },
    answers: { 200: { says: 'Closed.', schema: { Closed: ClosedClaims } } },
    refusals: { 409: 'The flow runs, or has ended by itself; or something proves otherwise.' },
    handler: async ({ params, caller, body }) => {
      const address = addressOf(params);
      const { flowId } = address;
      const about = { ...whoIs(caller), flowId, action: `close-claims ${body.as}` };
      return recordingRefusals(deps, about, body.note, async () => {
        const since = await requireNotRun(deps, address);
        const record = () => deps.store.audit.append({ ...about, kind: 'order', details: { ...body } });
        await closeClaims(deps, address, body.as, { actor: caller.name, note: body.note }, record);
        deps.logger.info({ flowId, as: body.as, actor: caller.name }, 'the claims of a flow were closed');
        // If the store fails, the next reminder finds it closed.
        if (since !== null) await deps.store.matters.resolve(parkedMatterId(flowId, since)).catch(() => undefined);
        const claims = await deps.store.claims.ofFlow(flowId);
        return { flowId, claims: claims.map(({ operation, reference, phase }) => ({ operation, reference, phase })) };
      });
    },
  });
}

/** @returns since when it is terminated, null if Temporal does not have it. @throws Refusal 404, 409 */
async function requireNotRun(
  { reader, store }: FlowOperationDeps,
  { flowId, reference }: FlowAddress,
): Promise<string | null> {
  const facts = await reader.facts(flowId);
  if (facts === undefined) {
    if ((await store.claims.ofFlow(flowId)).length > 0) return null;
    throw new Refusal(404, `There is no flow ${flowId}, and no claim of it.`, { reference });
  }
  if (isTerminated(facts.status)) return viewOf(facts, undefined).parked?.since ?? null;
  const why = facts.isOpen
    ? new Refusal(409, 'The flow is running: order it to end.', { reference, code: 'flow_not_ended' })
    : new Refusal(409, `The flow has ended as ${facts.state}.`, { reference, code: 'flow_ended', actions: [] });
  throw why;
}

const ORDER_OF: Readonly<Record<ClosedAs, ParkAction>> = { 'not-executed': 'close-not-executed', ...MARK_OF };

/**
 * All claims that the kind may use, or none. Judged by the claims and the inbox as they are when it is recorded: an
 * attempt may go on after a termination. The epoch of the flow is not known here: what was prepared before a restore may
 * have been sent, which is then only unknown.
 *
 * @param record writes the order to the audit log: one that cannot be recorded is not carried out
 * @throws Refusal 409, 503
 */
export async function closeClaims(
  { store, settings, lookUp }: FlowOperationDeps,
  address: FlowAddress,
  as: ClosedAs,
  order: { readonly actor: string; readonly note: string },
  record: () => Promise<unknown>,
): Promise<void> {
  const { flowId, reference } = address;
  const { claims } = store;
  const action = ORDER_OF[as];
  const trusted = await trustedEvents(store, flowId);
  const meanings = trusted.map(({ status }) => classifyOfAnyKind(status));
  const proven = endingsOf(meanings);
  const isProof = as === 'not-executed' ? trusted.length > 0 : orderRefusal(action, proven, proven) !== null;
  if (isProof) {
    const words = [...new Set(trusted.map(({ status }) => status ?? 'nothing final'))].join(', ');
    const why = `Proven events report ${words}: look at them, and close it as what they say.`;
    throw new Refusal(409, why, { reference, code: 'proven_otherwise' });
  }
  // By the clock of the store, which has marked its sends: that of a gateway may be wrong.
  const windowMs = settleWindowMs(settings.serviceTimeoutMs) * settings.timeScale;
  const isAgainst = (meaning: Meaning) =>
    as === 'not-executed' || orderRefusal(action, endingsOf([...meanings, meaning]), proven) !== null;
  const unless = { flowId, statuses: wordsThat(isAgainst), besides: trusted.map((row) => eventIdOf(row)), windowMs };
  const account = settings.serviceAccount;
  const found = await claims.ofFlow(flowId);
  const keys = distinct([...moneyOperationsOf(address).map((made) => ({ account, ...made })), ...found]);
  if (as === 'not-executed' && found.some(({ phase }) => phase === 'answered')) {
    const why = 'The service has answered it: close it as completed, failed or refunded.';
    throw new Refusal(409, why, { reference, code: 'service_has_it' });
  }
  const unsent = { flowId, fingerprint: NEVER_RESERVED, epoch: FIRST_EPOCH };
  const all = keys.map((key) => ({ key, ...unsent }));
  for (const claim of found) await requireServiceSaysNoOther(lookUp, claim, action);
  await record();
  const { kind } = await claims.closeByOrder(all, action, order, unless);
  if (kind !== 'closed') {
    const { code, text } = NOT_CLOSED[kind];
    throw new Refusal(503, `Not closed: ${text}.`, { reference, code }, RETRY_AFTER_SECONDS);
  }
  if (as !== 'not-executed') return;
  for (const key of found) await claims.closeNotExecuted(key, order, { windowMs });
  const open = (await claims.ofFlow(flowId)).find(({ phase }) => !isOver(phase));
  if (open === undefined) return;
  // Prepared before a restore of the store, it may have been sent.
  const why = `Its claim for ${open.operation} is ${open.phase} now: look at it, and order it again.`;
  throw new Refusal(409, why, { reference, code: 'post_under_way' });
}

/**
 * Asks the service at this moment: what it shows, or cannot be asked about, is not closed as not executed; and no ending is
 * recorded that its status excludes. Of a refund of ours the record says how the transfer ended only if it arrived.
 */
async function requireServiceSaysNoOther(
  lookUp: FlowOperationDeps['lookUp'],
  { operation, reference, phase, sent }: Claim,
  action: ParkAction,
): Promise<void> {
  if (isOver(phase) || sent === 'nothing') return;
  const { says, status = null } = (await lookUp?.(operation, reference)) ?? { says: 'no-lookup' };
  const meant = classifyOfAnyKind(status);
  const meaning = !isRefundReference(reference) ? meant : meant === 'succeeded' ? 'refunded' : 'pending';
  const ends = endingsOf([meaning]);
  const isRefused = action === 'close-not-executed' ? says === 'shown' : orderRefusal(action, ends, ends) !== null;
  if (isRefused) {
    const why = `The service has it (${operation}${status === null ? '' : `: ${status}`}), which says otherwise.`;
    throw new Refusal(409, why, { reference, code: 'service_has_it' });
  }
  if (says !== 'cannot-tell' || action !== 'close-not-executed') return;
  const again = 'The service cannot be asked now whether it has it. Order it again when it answers.';
  throw new Refusal(503, again, { reference, code: 'service_cannot_tell' }, RETRY_AFTER_SECONDS);
}

/** A claim of the flow may be one that its kind may use. */
const distinct = (keys: readonly ClaimKey[]): readonly ClaimKey[] => {
  const nameOf = ({ operation, reference }: ClaimKey) => `${operation} ${reference}`;
  return [...new Map(keys.map((key) => [nameOf(key), key])).values()];
};
