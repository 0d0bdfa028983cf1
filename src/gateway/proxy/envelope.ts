import type { FastifyReply } from 'fastify';
import type { Operation } from '../../contract/operation.js';
import { membersOf, onTheWire } from '../../contract/wire.js';
import type { FlowView } from '../../flows/messages.js';
import type { FlowAddress } from '../http/flow-path.js';
import { withoutOwnCallbacks } from '../flows/own-callbacks.js';
import { Refusal } from '../http/refusal.js';
import type { MoneyRequest } from './money-request.js';

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
export function accepted(reply: FastifyReply, { operation, address, input }: MoneyRequest, answer: unknown) {
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
export function rejectedByService(
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
export function underWay(reply: FastifyReply, operation: Operation, address: FlowAddress, view?: FlowView) {
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
