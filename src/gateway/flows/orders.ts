import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { ApplicationFailure } from '@temporalio/common';
import {
  type Client,
  isGrpcServiceError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
  WorkflowUpdateStage,
} from '@temporalio/client';
import type { FlowView, PayOrder, PersonOrder, RefundInvoiceOrder, ResolveOrder } from '../../protocol/messages.js';
import { UPDATES } from '../../protocol/vocabulary.js';
import { type FlowAddress, parseBody } from '../http/flow-path.js';
import { bodyOf, bodyOrEmpty } from '../http/json-body.js';
import { Refusal } from '../http/refusal.js';
import { addressOf, shownFlow } from './address.js';
import type { FlowOperationDeps } from './deps.js';
import { resolveTerminated } from './resolve-terminated.js';

const note = () => z.string().max(1_000);
export const CancelBody = z.strictObject({ note: note().optional() });
export const ResolveBody = z.strictObject({
  action: z.string().regex(/^[a-z-]{1,40}$/, 'is not an action'),
  note: note().min(1, 'must say why'),
  eventId: z
    .string()
    .regex(/^[\w.-]{1,80}$/, 'is not an event id')
    .optional(),
});
export const PayBody = z.strictObject({
  mobileMoney: z.unknown().refine((value) => value !== undefined, 'must say who pays'),
  amount: z.unknown().optional(),
  currency: z.unknown().optional(),
});
export const RefundInvoiceBody = z.strictObject({ invoice: z.string().min(1).max(4_000) });

/** `POST …/cancel`: refused once money may have moved. Cancelling a cancelled flow is no error. */
export async function cancelFlow(deps: FlowOperationDeps, request: FastifyRequest): Promise<FlowView> {
  const actor = deps.tokens.require(request, 'flows').name;
  const { note: why } = parseBody(CancelBody, bodyOrEmpty(request));
  const order = { actor, ...(why === undefined ? {} : { note: why }) };
  return give(deps, addressOf(request), { update: UPDATES.cancel, order }, (view) => view.state === 'cancelled');
}

/** `POST …/approve-quote`: the flow goes on to its deposit. */
export async function approveQuote(deps: FlowOperationDeps, request: FastifyRequest): Promise<FlowView> {
  const actor = deps.tokens.require(request, 'flows').name;
  const { note: why } = parseBody(CancelBody, bodyOrEmpty(request));
  const order = { actor, ...(why === undefined ? {} : { note: why }) };
  return give(deps, addressOf(request), { update: UPDATES.approveQuote, order }, () => false);
}

/** `POST …/resolve`: one of the actions that the parked flow lists. */
export async function resolveFlow(deps: FlowOperationDeps, request: FastifyRequest): Promise<FlowView> {
  const actor = deps.tokens.require(request, 'operator').name;
  const { action, note: why, eventId } = parseBody(ResolveBody, bodyOf(request).value);
  const address = addressOf(request);
  const facts = await deps.reader.facts(address.flowId);
  if (facts?.status === 'TERMINATED' || facts?.status === 'TIMED_OUT') {
    return resolveTerminated(deps, address, facts, { action, note: why, actor });
  }
  const order = { action, note: why, actor, ...(eventId === undefined ? {} : { eventId }) };
  const view = await give(deps, address, { update: UPDATES.resolve, order }, () => false);
  deps.settler.lookAt(address.flowId);
  return view;
}

/** `POST …/pay`: the invoice that a flow generated is paid, once. The same order again finds the first one. */
export async function payInvoice(deps: FlowOperationDeps, request: FastifyRequest): Promise<FlowView> {
  const actor = deps.tokens.require(request, 'flows').name;
  // What is in it is checked by the flow, by the rules of its kind.
  const order = { actor, ...parseBody(PayBody, bodyOf(request).value) };
  return give(deps, addressOf(request), { update: UPDATES.pay, order }, () => false);
}

/** `POST …/refund-invoice`: a Lightning invoice of the recipient of an offramp's refund. */
export async function giveRefundInvoice(deps: FlowOperationDeps, request: FastifyRequest): Promise<FlowView> {
  const actor = deps.tokens.require(request, 'flows').name;
  const { invoice } = parseBody(RefundInvoiceBody, bodyOf(request).value);
  return give(
    deps,
    addressOf(request),
    { update: UPDATES.provideRefundInvoice, order: { actor, invoice } },
    () => false,
  );
}

const CONTENT_PROBLEMS: readonly string[] = ['invalid_input', 'invoice_refused'];

async function give(
  { client, reader, logger }: FlowOperationDeps,
  address: FlowAddress,
  order: FlowOrder,
  isDone: (view: FlowView) => boolean,
): Promise<FlowView> {
  const outcome = await orderFlow(client, address.flowId, order);
  const view = await shownFlow(reader, address);
  const { reference } = address;
  switch (outcome.kind) {
    case 'taken':
    case 'under-way':
      logger.info({ flowId: address.flowId, order: order.update, actor: order.order.actor }, 'a person gave an order');
      return view;
    case 'no-answer':
      throw new Refusal(503, 'No worker took the order yet. Look at the flow before you repeat it.', { reference }, 5);
    case 'refused': {
      // What is wrong with the order's content is no question of where the flow stands.
      if (CONTENT_PROBLEMS.includes(outcome.type)) throw new Refusal(400, outcome.message, { reference });
      const actions = view.parked?.actions ?? [];
      const legal = actions.length === 0 ? 'It waits for no decision now.' : `Legal now: ${actions.join(', ')}.`;
      throw new Refusal(409, `The flow refused it: ${outcome.message.replace(/\.$/, '')}. ${legal}`, {
        reference,
        actions,
      });
    }
    case 'not-found':
      if (isDone(view)) return view;
      throw new Refusal(409, `The flow has ended as ${view.state}; it takes no orders any more.`, {
        reference,
        actions: [],
      });
    default:
      return outcome satisfies never;
  }
}

/** A person's order to a flow, which the flow takes or refuses. */
type FlowOrder =
  | { readonly update: typeof UPDATES.resolve; readonly order: ResolveOrder }
  | { readonly update: typeof UPDATES.cancel | typeof UPDATES.approveQuote; readonly order: PersonOrder }
  | { readonly update: typeof UPDATES.pay; readonly order: PayOrder }
  | { readonly update: typeof UPDATES.provideRefundInvoice; readonly order: RefundInvoiceOrder };

export type OrderOutcome =
  | { readonly kind: 'taken' }
  /** The flow took it, and carries it out still. */
  | { readonly kind: 'under-way' }
  /** The flow is not in a state in which that is legal; `type` is the flow's word for why. */
  | { readonly kind: 'refused'; readonly type: string; readonly message: string }
  /** Closed, or never started. */
  | { readonly kind: 'not-found' }
  /** No worker took it in time: it may still be taken. */
  | { readonly kind: 'no-answer' };

const DEADLINE_MS = 10_000;
const DEADLINE_EXCEEDED = 4;
const RESOURCE_EXHAUSTED = 8;

/** Sends an order as an update and waits for the flow's word on it. */
export async function orderFlow(
  client: Client,
  flowId: string,
  { update, order }: FlowOrder,
  deadlineMs = DEADLINE_MS,
): Promise<OrderOutcome> {
  let accepted = false;
  const send = async () => {
    const sent = await client.workflow
      .getHandle(flowId)
      .startUpdate<unknown, [unknown]>(update, { args: [order], waitForStage: WorkflowUpdateStage.ACCEPTED });
    accepted = true;
    await sent.result();
  };
  try {
    await client.connection.withDeadline(Date.now() + deadlineMs, send);
    return { kind: 'taken' };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return { kind: 'not-found' };
    if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError)
      return { kind: accepted ? 'under-way' : 'no-answer' };
    if (error instanceof WorkflowUpdateFailedError) return refusalOf(error.cause);
    const cause = error instanceof Error && isGrpcServiceError(error.cause) ? error.cause : error;
    // A run holds ten open updates; more come when no worker takes them.
    if (isGrpcServiceError(cause) && [DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED].includes(cause.code)) {
      return { kind: accepted ? 'under-way' : 'no-answer' };
    }
    throw error;
  }
}

function refusalOf(cause: Error | undefined): OrderOutcome {
  // The update was accepted, but the flow ended before it was done.
  if (!(cause instanceof ApplicationFailure)) return { kind: 'not-found' };
  return { kind: 'refused', type: cause.type ?? 'refused', message: cause.message };
}
