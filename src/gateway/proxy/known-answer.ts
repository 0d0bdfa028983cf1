import type { FastifyReply } from 'fastify';
import type { FlowView, SubmitAnswer } from '../../protocol/messages.js';
import type { Claim } from '../../store/claim.js';
import { submitFingerprint } from '../../store/store-key.js';
import { flowFingerprint } from '../../temporal/start-flow.js';
import type { Operation } from '../../contract/operation.js';
import { membersOf, onTheWire } from '../../contract/wire.js';
import { resolvedView } from '../flows/resolve-terminated.js';
import { Refusal } from '../http/refusal.js';
import type { FlowAddress } from '../http/flow-path.js';
import { withoutOwnCallbacks } from '../flows/address.js';
import type { ProxyDeps } from './deps.js';
import type { MoneyRequest } from './money-request.js';

const RETRY_AFTER_SECONDS = 5;
/** Ends that say what is wrong with the request; every other one is about the flow. */
const BAD_REQUESTS: readonly string[] = ['invalid_input', 'quote_rejected'];

/** Another request has this reference. */
export function otherRequest({ address }: MoneyRequest): Refusal {
  const { reference } = address;
  return new Refusal(409, `Another request was made under the reference ${reference}. Use a new one.`, { reference });
}

/** The claim of this very request; undefined where nothing was reserved yet. @throws Refusal 409 where it is another's */
export async function claimOf(deps: ProxyDeps, request: MoneyRequest): Promise<Claim | undefined> {
  const { name, definition, address, input } = request;
  const key = { account: deps.settings.serviceAccount, operation: name, reference: address.reference };
  const claim = await deps.store.claims.get(key);
  if (claim === undefined) return undefined;
  const submission = Object.values(definition.submissions ?? {}).find(({ operation }) => operation === name);
  const fingerprint =
    submission === undefined
      ? flowFingerprint(deps.store, definition, input)
      : submitFingerprint(deps.store, name, submission.decidedBy(input));
  // Voided before anything was reserved for it: by a person, for a flow of which nothing else is known.
  if (claim.fingerprint !== fingerprint && claim.fingerprint !== '') throw otherRequest(request);
  return claim;
}

/** What the service answered before, by the claim. Undefined where that is not known. */
export function answerOfClaim(reply: FastifyReply, request: MoneyRequest, claim: Claim | undefined) {
  const { address } = request;
  if (claim?.phase === 'answered') return accepted(reply, request, claim.answer);
  if (claim?.phase === 'rejected' && claim.rejection !== undefined) throw rejectedByService(address, claim.rejection);
  return undefined;
}

/** What the flow reported of the service's answer. Undefined where it has none. */
export function answerOfFlow(reply: FastifyReply, request: MoneyRequest, answered: SubmitAnswer) {
  if (answered.kind === 'accepted') return accepted(reply, request, answered.answer);
  if (answered.kind === 'rejected') throw rejectedByService(request.address, answered);
  return undefined;
}

/** No answer of the service is to be had from its flow now: what its claim says, or how the flow stands. */
export async function answerByState(
  deps: ProxyDeps,
  request: MoneyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { operation, address } = request;
  const known = answerOfClaim(reply, request, await claimOf(deps, request));
  if (known !== undefined) return known;
  const shown = await deps.reader.show(address.flowId);
  if (shown === undefined) {
    const message = 'Temporal did not take the request in time. Send it again: one reference is one flow.';
    throw new Refusal(503, message, { reference: address.reference }, RETRY_AFTER_SECONDS);
  }
  const view = await resolvedView(shown, deps.store);
  if (hasFailed(view)) throw failure(view);
  // Proven by an event, or by a person: it was executed, and no answer will come any more.
  if (view.state === 'completed' || view.state === 'refunded') return accepted(reply, request, undefined);
  return underWay(reply, operation, address, view);
}

function hasFailed({ state }: FlowView): boolean {
  return state === 'failed' || state === 'expired' || state === 'cancelled';
}

function failure({ reference, state, outcome }: FlowView): Refusal {
  const status = BAD_REQUESTS.includes(outcome?.reason ?? '') ? 400 : 409;
  const detail = outcome?.detail ?? 'It was not carried out.';
  return new Refusal(status, `This request has ended as ${state}. ${detail}`, {
    reference,
    ...(outcome?.reason ? { code: outcome.reason } : {}),
  });
}

/** As the service spells the caller's reference, in one answer or another. */
const REFERENCE_MEMBERS = ['referenceId', 'reference_id', 'provider_reference_id'] as const;

/** The member of the operation's answer that carries the reference. */
export function referenceMemberOf({ data, reference }: Pick<Operation, 'data' | 'reference'>): string {
  const members = membersOf(data);
  return REFERENCE_MEMBERS.find((member) => members.includes(member)) ?? reference ?? 'referenceId';
}

/**
 * The service accepted it: its own answer. Where that was lost and a lookup proved the rest, the claim has the record
 * that was looked up, of another shape: then the reference is what there is to say.
 */
function accepted(reply: FastifyReply, { operation, address, input }: MoneyRequest, answer: unknown) {
  const isItsOwn = operation.data.safeParse(answer).success;
  const known = isItsOwn ? answer : { [referenceMemberOf(operation)]: address.reference };
  // What it repeats of the request is what its caller sent.
  const { callbackUrl } = input as { readonly callbackUrl?: string };
  const data = onTheWire(operation.data, withoutOwnCallbacks(known, callbackUrl));
  const message = isItsOwn ? (messageIn(data) ?? 'Accepted by the service') : ANSWER_LOST;
  return located(reply, address)
    .code(operation.success ?? 200)
    .send({ success: true, message, data });
}

const ANSWER_LOST = 'Accepted by the service, whose answer was lost on the way. Read its record by the reference.';

/** The service refused it: its own status and sentence. */
function rejectedByService(
  address: FlowAddress,
  rejection: { readonly httpStatus: number; readonly message: string; readonly code?: string | null },
): Refusal {
  const { httpStatus, message, code } = rejection;
  // 2xx with `success: false` is a refusal of the service, too.
  const status = httpStatus >= 200 && httpStatus <= 599 ? httpStatus : 400;
  return new Refusal(status, message === '' ? 'The service refused it.' : message, {
    reference: address.reference,
    ...(code === undefined || code === null ? {} : { code }),
  });
}

/** It is under way, and the service's answer is not known yet: where to look, and what is known. */
function underWay(reply: FastifyReply, operation: Operation, address: FlowAddress, view?: FlowView) {
  const known =
    view === undefined ? {} : { state: view.state, stage: view.stage, serviceReference: view.serviceReference };
  return located(reply, address)
    .code(202)
    .send({
      success: true,
      message: `${standingOf(operation, view)} Its state is at /flows/${address.flowId}.`,
      data: { [referenceMemberOf(operation)]: address.reference, ...known },
    });
}

function standingOf({ reference }: Operation, view: FlowView | undefined): string {
  return view?.state === 'parked'
    ? 'What became of this request is being decided by a person. Do not make it anew under another reference.'
    : `Taken, and under way. The same request again, with this ${reference}, gives the service's answer, once it is known.`;
}

function located(reply: FastifyReply, { flowId }: FlowAddress): FastifyReply {
  return reply.header('location', `/flows/${flowId}`);
}

function messageIn(data: unknown): string | undefined {
  const { message } = (typeof data === 'object' && data !== null ? data : {}) as { message?: unknown };
  return typeof message === 'string' && message !== '' ? message : undefined;
}
