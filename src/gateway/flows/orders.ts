import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { FlowView } from '../../flows/messages.js';
import { UPDATES } from '../../flows/vocabulary.js';
import { type FlowOrder, orderFlow } from '../../temporal/flow-handle-order.js';
import type { FlowAddress } from '../http/flow-path.js';
import { bodyOf, bodyOrEmpty } from '../http/json-body.js';
import { parseBody } from '../http/members.js';
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

/** `POST …/refund-invoice`: a Lightning invoice for whoever is to get the refund of an offramp. */
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
