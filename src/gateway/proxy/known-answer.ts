import type { FastifyReply } from 'fastify';
import { parse, stringify } from 'lossless-json';
import { fixedIn, otherThan } from '../../flows/echoes.js';
import { NEVER_RESERVED, sameFingerprint } from '../../protocol/fingerprint.js';
import { withoutMark } from '../../readers/byte-order-mark.js';
import type { FlowView } from '../../api/flow.js';
import type { BesideServiceError } from '../../api/refusal.js';
import { PAID_BY_ANOTHER_WAY, type Rejection, type SubmitAnswer } from '../../protocol/messages.js';
import { refusalCodeOf } from '../../protocol/refusals.js';
import type { Claim, KeptAnswer } from '../../store/claim.js';
import { flowFingerprint, submitFingerprint } from '../../store/store-key.js';
import type { Operation } from '../../contract/operation.js';
import { membersOf, onTheWire } from '../../contract/wire.js';
import { resolvedView } from '../flows/terminated-view.js';
import { OtherRequestRefusal, Refusal, RETRY_AFTER_SECONDS } from '../http/refusal.js';
import type { FlowAddress } from '../http/flow-path.js';
import { bytesWithoutOwnCallbacks, withoutOwnCallbacks } from '../flows/address.js';
import type { ProxyDeps } from './deps.js';
import type { MoneyRequest } from './money-request.js';

/** Endings that are caused by the request itself; all others are about the flow. */
const BAD_REQUESTS: readonly string[] = ['invalid_input', 'quote_rejected'];

/** Another request has this reference. */
export function otherRequest({ address }: MoneyRequest): Refusal {
  const { reference } = address;
  const why = `Another request was made under the reference ${reference}. Check that flow first: a new reference is a second payment.`;
  return new OtherRequestRefusal(why, reference);
}

/**
 * The claim of this very request; undefined if nothing was reserved yet. @throws Refusal 409 if it is another request's
 */
export async function claimOf(deps: ProxyDeps, request: MoneyRequest): Promise<Claim | undefined> {
  const { name, definition, address, input } = request;
  const key = { account: deps.settings.serviceAccount, operation: name, reference: address.reference };
  const claim = await deps.store.claims.get(key);
  if (claim === undefined) return undefined;
  const submission = submissionOf(request);
  const fingerprint = () =>
    submission === undefined
      ? flowFingerprint(deps.store, definition, input)
      : submitFingerprint(deps.store, name, submission.decidedBy(input));
  // Voided before anything was reserved for it: by a person, for a flow about which nothing else is known.
  const isOurs = () => claim.fingerprint === NEVER_RESERVED || sameFingerprint(claim.fingerprint, fingerprint());
  if (!isOurs() && !((await deps.store.refreshKeys()) && isOurs())) throw otherRequest(request);
  return claim;
}

const submissionOf = ({ definition, name }: MoneyRequest) =>
  Object.values(definition.submissions ?? {}).find(({ operation }) => operation === name);

/** The service's answer names something else than this request fixed: it is of another one, and no answer to this. */
const isOfAnother = (request: MoneyRequest, answer: unknown): boolean =>
  otherThan(request.name, fixedIn(request.name, submissionOf(request), request.input), answer) !== undefined;

/**
 * Answers with the service's earlier answer, from the claim. False if it is not known, if it is of another request, or if
 * it was a refusal that a trusted event contradicts.
 * (None of these returns the reply: a reply is a promise to JavaScript, and awaiting it means waiting until it is sent.)
 */
export async function answerOfClaim(
  deps: ProxyDeps,
  reply: FastifyReply,
  request: MoneyRequest,
  claim: Claim | undefined,
): Promise<boolean> {
  const { phase } = claim ?? {};
  if (phase === 'rejected' && (await isContradicted(deps, request))) return false;
  if (phase === 'answered' && isOfAnother(request, claim?.answer)) return false;
  if (claim?.erased) erasedAnswer(reply, request, claim);
  else if (phase === 'answered') accepted(reply, request, claim?.answer, claim?.kept);
  else if (phase === 'rejected') rejectedByService(reply, request, claim?.rejection, claim?.kept);
  else return false;
  return true;
}

/** A trusted event came although the service refused the POST: until the flow has failed, it may have been executed. */
async function isContradicted(
  { store, reader }: ProxyDeps,
  { address: { flowId }, asker }: MoneyRequest,
): Promise<boolean> {
  const events = await store.inbox.list({ flowId, trusted: true, limit: 1, bodies: false });
  if (events.length === 0) return false;
  const shown = await reader.show(flowId, asker);
  return shown !== undefined && !hasFailed(await resolvedView(shown, store));
}

/**
 * Answers with what the flow reported of the service's answer; its claim has the raw one. False if the flow has none, or
 * if it is a refusal that a trusted event contradicts.
 *
 * @throws Refusal 409 if the claim is another request's
 */
export async function answerOfFlow(
  deps: ProxyDeps,
  request: MoneyRequest,
  reply: FastifyReply,
  answered: SubmitAnswer,
): Promise<boolean> {
  if (answered.kind === 'none') return false;
  const claim = await claimOf(deps, request);
  if (await answerOfClaim(deps, reply, request, claim)) return true;
  if (claim?.phase === 'rejected') return false;
  if (answered.kind === 'accepted') accepted(reply, request, answered.answer);
  else rejectedByService(reply, request, answered);
  return true;
}

/**
 * The flow has no answer of the service to give now: answers with what its claim has, or with the flow's state.
 * @param refused how the flow refused the order: then the request is not in progress, whatever the flow does
 */
export async function answerByState(
  deps: ProxyDeps,
  request: MoneyRequest,
  reply: FastifyReply,
  refused?: { readonly type: string; readonly message: string },
): Promise<void> {
  const { operation, address, name } = request;
  const claim = await claimOf(deps, request);
  if (await answerOfClaim(deps, reply, request, claim)) return;
  const shown = await deps.reader.show(address.flowId, request.asker);
  if (shown === undefined) {
    const message = 'Temporal did not take the request in time. Send it again: one reference is one flow.';
    const { reference } = address;
    throw new Refusal(503, message, { reference, code: 'temporal_unavailable' }, RETRY_AFTER_SECONDS);
  }
  const view = await resolvedView(shown, deps.store);
  if (hasFailed(view)) throw failure(view);
  // The invoice may be paid in another way than by this order.
  if (name === 'payInvoice' && isUnsent(claim) && isEnded(view)) throw notByThis(view);
  // Proven by an event, or by a person: it was executed, and no answer will come any more.
  if (isEnded(view)) return void accepted(reply, request, undefined);
  if (refused !== undefined) {
    const { reference } = address;
    const code = refusalCodeOf(refused.type);
    throw new Refusal(503, refused.message, { reference, code }, RETRY_AFTER_SECONDS);
  }
  return void underWay(reply, operation, address, view);
}

/** Nothing was sent under this claim so far. */
export function isUnsent(claim: Claim | undefined): boolean {
  return claim === undefined || claim.phase === 'void' || claim.phase === 'reserved';
}

function hasFailed({ state }: FlowView): boolean {
  return state === 'failed' || state === 'expired' || state === 'cancelled';
}

const isEnded = ({ state }: FlowView): boolean => state === 'completed' || state === 'refunded';

function notByThis({ reference, state }: FlowView): Refusal {
  const message = `The flow of this invoice has ended as ${state}, and no claim shows that this order to pay was sent.`;
  return new Refusal(409, message, { reference, code: PAID_BY_ANOTHER_WAY });
}

function failure({ reference, state, outcome }: FlowView): Refusal {
  const status = BAD_REQUESTS.includes(outcome?.reason ?? '') ? 400 : 409;
  const detail = outcome?.detail ?? 'It was not carried out.';
  return new Refusal(status, `This request has ended as ${state}. ${detail}`, {
    reference,
    code: refusalCodeOf(outcome?.reason),
  });
}

/** As the service spells the caller's reference, in one answer or another. */
const REFERENCE_MEMBERS = ['referenceId', 'reference_id', 'provider_reference_id'] as const;

/** The member of the operation's answer that carries the reference. */
function referenceMemberOf({ data, reference }: Pick<Operation, 'data' | 'reference'>): string {
  const members = membersOf(data);
  return REFERENCE_MEMBERS.find((member) => members.includes(member)) ?? reference ?? 'referenceId';
}

/**
 * The service accepted it: sends its own answer, unchanged. If that was lost and a lookup proved the payment, the claim
 * has the looked-up record, which has another shape: then only the reference is sent.
 */
function accepted(
  reply: FastifyReply,
  { operation, address, input }: MoneyRequest,
  answer: unknown,
  kept?: KeptAnswer,
): FastifyReply {
  // Parts that repeat the request are replaced by what the caller sent.
  const { callbackUrl } = input as { readonly callbackUrl?: string };
  void located(reply, address);
  if (kept !== undefined) return asItCame(reply, kept, bytesWithoutOwnCallbacks(Buffer.from(kept.body), callbackUrl));
  const isItsOwn = operation.data.safeParse(answer).success;
  const known = isItsOwn ? answer : { [referenceMemberOf(operation)]: address.reference };
  const data = onTheWire(operation.data, withoutOwnCallbacks(known, callbackUrl));
  const message = isItsOwn ? (messageIn(data) ?? 'Accepted by the service') : ANSWER_LOST;
  return reply.code(operation.success ?? 200).send({ success: true, message, data });
}

/** What the service said was erased; that it said it was not. */
function erasedAnswer(reply: FastifyReply, { operation, address }: MoneyRequest, { phase }: Claim): FastifyReply {
  if (phase !== 'answered') {
    const { reference, flowId } = address;
    const towline: BesideServiceError = { by: 'service', reference, code: 'erased', flow: `/flows/${flowId}` };
    return reply.code(400).send({ success: false, message: REFUSAL_ERASED, data: { errors: [] }, towline });
  }
  const data = { [referenceMemberOf(operation)]: address.reference };
  return located(reply, address)
    .code(operation.success ?? 200)
    .send({ success: true, message: ANSWER_ERASED, data });
}

const ANSWER_ERASED =
  'The service executed this reference before; nothing was sent now. Its answer was erased here: read its own record.';
const REFUSAL_ERASED = 'The service refused this reference before; nothing was sent now. What it said was erased here.';

const asItCame = (reply: FastifyReply, { httpStatus, contentType }: KeptAnswer, body: string | Buffer): FastifyReply =>
  reply.code(httpStatus).type(contentType).send(body);

const ANSWER_LOST = 'Accepted by the service, whose answer was lost on the way. Read its record by the reference.';

/** The service refused it: sends its own answer, unchanged, plus what the gateway knows. */
function rejectedByService(
  reply: FastifyReply,
  { address: { reference, flowId } }: MoneyRequest,
  rejection: Omit<Rejection, 'code'> & { readonly code?: string | null } = { httpStatus: 400, message: '' },
  kept?: KeptAnswer,
): FastifyReply {
  const towline: BesideServiceError = { by: 'service', reference, flow: `/flows/${flowId}` };
  if (kept !== undefined) return asItCame(reply, kept, beside(kept.body, towline));
  const { httpStatus, message, code } = rejection;
  return reply.code(httpStatus >= 200 && httpStatus <= 599 ? httpStatus : 400).send({
    success: false,
    message: message === '' ? 'The service refused it.' : message,
    ...(code === undefined || code === null ? {} : { error_code: code }),
    data: { errors: [] },
    towline,
  });
}

/**
 * The service's error body with one more member; a body that is not a JSON object stays as it is. Numbers stay as they
 * were written.
 */
function beside(body: string, towline: BesideServiceError): string {
  const text = bytesWithoutOwnCallbacks(Buffer.from(body)).toString('utf8');
  try {
    const said: unknown = parse(withoutMark(text));
    return isObject(said) ? (stringify({ ...said, towline }) ?? text) : text;
  } catch {
    return text;
  }
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;

/** It is in progress, and the service's answer is not known yet: sends the flow's address, and what is known. */
function underWay(reply: FastifyReply, operation: Operation, address: FlowAddress, view?: FlowView) {
  const known =
    view === undefined ? {} : { state: view.state, stage: view.stage, serviceReference: view.serviceReference };
  return located(reply, address)
    .code(202)
    .send({
      success: true,
      message: `${progressSentence(operation, view)} Its state is at /flows/${address.flowId}.`,
      data: { [referenceMemberOf(operation)]: address.reference, ...known },
    });
}

function progressSentence({ reference }: Operation, view: FlowView | undefined): string {
  return view?.state === 'parked'
    ? 'The outcome of this request is being decided by a person. Do not send it again under another reference.'
    : `Taken, and under way. The same request again, with this ${reference}, gives the service's answer, once it is known.`;
}

function located(reply: FastifyReply, { flowId }: FlowAddress): FastifyReply {
  return reply.header('location', `/flows/${flowId}`);
}

function messageIn(data: unknown): string | undefined {
  const { message } = (typeof data === 'object' && data !== null ? data : {}) as { message?: unknown };
  return typeof message === 'string' && message !== '' ? message : undefined;
}
