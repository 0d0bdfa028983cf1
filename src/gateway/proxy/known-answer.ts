import type { FastifyReply } from 'fastify';
import type { FlowView } from '../../flows/messages.js';
import type { Claim } from '../../store/claim.js';
import { submitFingerprint } from '../../store/submit-fingerprint.js';
import { flowFingerprint } from '../../temporal/start-flow-fingerprint.js';
import type { SubmitAnswer } from '../../../workflows/steps/messages.js';
import { resolvedView } from '../flows/resolve-terminated.js';
import { Refusal } from '../http/refusal.js';
import type { ProxyDeps } from './deps.js';
import { accepted, rejectedByService, underWay } from './envelope.js';
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

/** What the flow told of the service's answer. Undefined where it has none to tell. */
export function answerOfFlow(reply: FastifyReply, request: MoneyRequest, told: SubmitAnswer) {
  if (told.kind === 'accepted') return accepted(reply, request, told.answer);
  if (told.kind === 'rejected') throw rejectedByService(request.address, told);
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
