import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { ResolveOrder } from '../../protocol/messages.js';
import { untilProblem } from '../../protocol/until.js';
import { UPDATES } from '../../protocol/vocabulary.js';
import { addressOf, type FlowAddress, FlowParams } from '../http/flow-path.js';
import { Refusal } from '../http/refusal.js';
import { addRoute } from '../http/route.js';
import { Flow, shownFlow } from './address.js';
import type { FlowOperationDeps } from './deps.js';
import { resolveTerminated } from './resolve-terminated.js';
import { foreignType } from '../../temporal/flow-handle.js';
import { type FlowOrder, orderFlow } from './send-order.js';

/** It is shown on terminals. */
const note = () =>
  z
    .string()
    .max(1_000)
    .refine((text) => !/(?![\n\t])\p{Cc}/u.test(text), 'must have no control characters but line breaks and tabs');
const CancelBody = z.strictObject({ note: note().optional() });
const ResolveBody = z.strictObject({
  action: z.string().regex(/^[a-z-]{1,40}$/, 'is not an action'),
  note: note().min(1, 'must say why'),
  eventId: z
    .string()
    .regex(/^[\w.-]{1,80}$/, 'is not an event id')
    .optional(),
  // Judged by the flow, whose clock it is.
  until: z
    .string()
    .max(40)
    .meta({
      description: 'The new deadline of a `keep-waiting`, in UTC, such as 2026-12-01T12:00:00Z; within 90 days.',
    })
    .optional(),
});
const PayBody = z.strictObject({
  mobileMoney: z.unknown().refine((value) => value !== undefined, 'must say who pays'),
  amount: z.unknown().optional(),
  currency: z.unknown().optional(),
});
const RefundInvoiceBody = z.strictObject({ invoice: z.string().min(1).max(4_000) });

const order = {
  method: 'POST',
  tag: 'flows',
  params: FlowParams,
  answers: { 200: { says: 'The flow.', schema: { Flow } } },
} as const;

/** What a person, or the caller, decides about a flow. */
export function addOrderRoutes(server: FastifyInstance, deps: FlowOperationDeps): void {
  const { tokens } = deps;
  addRoute(
    server,
    tokens,
    {
      ...order,
      path: '/flows/:kind/:reference/cancel',
      operationId: 'cancelFlow',
      permission: 'cancel',
      summary: 'Cancels a flow; refused once money may have moved.',
      body: { schema: { CancelBody }, required: false, example: { note: 'ordered twice' } },
      refusals: { 409: 'Money may have moved already.' },
    },
    // Cancelling a cancelled flow is no error.
    ({ params, caller: { name: actor }, body: { note: why } }) =>
      give(
        deps,
        addressOf(params),
        { update: UPDATES.cancel, order: { actor, ...(why === undefined ? {} : { note: why }) } },
        (view) => view.state === 'cancelled',
      ),
  );
  addRoute(
    server,
    tokens,
    {
      ...order,
      path: '/flows/:kind/:reference/approve-quote',
      operationId: 'approveQuote',
      permission: 'approve-quote',
      summary: 'Lets a flow that waits for the approval of its quote go on.',
      body: { schema: { CancelBody }, required: false },
      refusals: { 409: 'It does not wait for that.' },
    },
    ({ params, caller: { name: actor }, body: { note: why } }) =>
      give(deps, addressOf(params), {
        update: UPDATES.approveQuote,
        order: { actor, ...(why === undefined ? {} : { note: why }) },
      }),
  );
  addRoute(
    server,
    tokens,
    {
      ...order,
      path: '/flows/:kind/:reference/pay',
      operationId: 'payFlow',
      permission: 'pay',
      summary: 'Pays the invoice of an invoice-payment that waits for it.',
      body: {
        schema: { PayBody },
        required: true,
        example: { mobileMoney: { phoneNumber: '+254712345678', providerNetwork: 'MPESA' } },
      },
      refusals: { 409: 'It does not wait for that.' },
    },
    // Once: the same order again finds the first one. What is in it is checked by the flow, by the rules of its kind.
    ({ params, caller: { name: actor }, body }) =>
      give(deps, addressOf(params), { update: UPDATES.pay, order: { actor, ...body } }),
  );
  addRoute(
    server,
    tokens,
    {
      ...order,
      path: '/flows/:kind/:reference/refund-invoice',
      operationId: 'provideRefundInvoice',
      permission: 'give-refund-invoice',
      summary: 'Gives the Lightning invoice that a refund of an offramp goes to.',
      body: { schema: { RefundInvoiceBody }, required: true, example: { invoice: 'lnbc…' } },
      refusals: { 409: 'It does not wait for that.' },
    },
    ({ params, caller: { name: actor }, body: { invoice } }) =>
      give(deps, addressOf(params), { update: UPDATES.provideRefundInvoice, order: { actor, invoice } }),
  );
  addRoute(
    server,
    tokens,
    {
      ...order,
      path: '/flows/:kind/:reference/resolve',
      operationId: 'resolveFlow',
      summary: 'Decides a parked flow by one of the actions that it lists.',
      permission: 'resolve',
      body: {
        schema: { ResolveBody },
        required: true,
        example: { action: 'keep-waiting', note: 'the provider says: tomorrow' },
      },
      refusals: { 409: 'The action is not legal now.' },
    },
    ({ params, caller: { name: actor }, body: { eventId, until, ...rest } }) =>
      resolveFlow(deps, addressOf(params), {
        ...rest,
        actor,
        ...(eventId === undefined ? {} : { eventId }),
        ...(until === undefined ? {} : { until }),
      }),
  );
}

async function resolveFlow(deps: FlowOperationDeps, address: FlowAddress, order: ResolveOrder): Promise<Flow> {
  const facts = await deps.reader.facts(address.flowId);
  if (facts?.status === 'TERMINATED' || facts?.status === 'TIMED_OUT') {
    const wrong = untilProblem(order, deps.nowMs());
    if (wrong !== null) throw new Refusal(400, wrong, { reference: address.reference });
    return resolveTerminated(deps, address, facts, order);
  }
  const view = await give(deps, address, { update: UPDATES.resolve, order });
  deps.settler.lookAt(address.flowId);
  return view;
}

const CONTENT_PROBLEMS: readonly string[] = ['invalid_input', 'invoice_refused'];

async function give(
  { client, reader, logger }: FlowOperationDeps,
  address: FlowAddress,
  order: FlowOrder,
  isDone: (view: Flow) => boolean = () => false,
): Promise<Flow> {
  const outcome = await orderFlow(client, address.flowId, order);
  const view = await shownFlow(reader, address);
  const { reference } = address;
  switch (outcome.kind) {
    case 'taken':
    case 'under-way':
      logger.info({ flowId: address.flowId, order: order.update, actor: order.order.actor }, 'a person gave an order');
      return view;
    case 'no-answer': {
      const facts = await reader.facts(address.flowId);
      const foreign = facts && foreignType(facts);
      if (foreign !== undefined) {
        throw new Refusal(409, `The flow takes no orders: ${foreign}. End it in Temporal (terminate).`, { reference });
      }
      throw new Refusal(503, 'No worker took the order yet. Check the flow before retrying.', { reference }, 5);
    }
    case 'refused': {
      // What is wrong with the order's content is no question of where the flow stands.
      if (CONTENT_PROBLEMS.includes(outcome.type)) throw new Refusal(400, outcome.message, { reference });
      const actions = view.parked?.actions ?? [];
      const legal = actions.length === 0 ? 'It waits for no decision now.' : `Legal now: ${actions.join(', ')}.`;
      // Who ordered an unknown action was given the list by the flow itself.
      const more = outcome.type === 'unknown_action' && actions.length > 0 ? '' : ` ${legal}`;
      throw new Refusal(409, `The flow refused it: ${outcome.message.replace(/\.$/, '')}.${more}`, {
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
