import type { FastifyInstance, FastifyReply } from 'fastify';
import type { z } from 'zod';
import { untilProblem } from '../../protocol/until.js';
import { APPROVE_QUOTE } from '../../protocol/four-eyes.js';
import { Flow, type FlowWithMoney, FlowParams } from '../../api/flow.js';
import { CancelBody, PayBody, RefundInvoiceBody, ResolveBody } from '../../api/orders.js';
import { type ParkAction, UPDATES } from '../../protocol/vocabulary.js';
import { asOrder, type Caller, whoIs } from '../http/bearer-token.js';
import { addressOf, type FlowAddress } from '../http/flow-path.js';
import { Refusal } from '../http/refusal.js';
import { addRoute } from '../http/route.js';
import { shownFlow } from './address.js';
import type { FlowOperationDeps } from './deps.js';
import { flowJson } from './flow-json.js';
import { giveOrder, notNow, recordingRefusals } from './give-order.js';
import { resume } from './resume.js';
import { isTerminated } from './terminated-view.js';
import { topicOf, withdrawProposal } from './second-person.js';

const order = {
  method: 'POST',
  tag: 'flows',
  params: FlowParams,
  answers: { 200: { says: 'The flow.', schema: { Flow } } },
} as const;

/** An order that may need a second person. */
const orderOfTwo = {
  ...order,
  answers: {
    ...order.answers,
    202: { says: 'The order waits for a second person: `proposal` says how it is confirmed.', schema: { Flow } },
  },
} as const;

/** The decisions of a person, or of the caller, about a flow. */
export function addOrderRoutes(server: FastifyInstance, deps: FlowOperationDeps): void {
  addRoute(server, {
    ...order,
    path: '/flows/:kind/:reference/cancel',
    operationId: 'cancelFlow',
    permission: 'cancel',
    summary: 'Cancels a flow; refused once money may have moved.',
    body: { schema: { CancelBody }, required: false, example: { note: 'ordered twice' } },
    refusals: { 409: 'Money may have moved already.' },
    handler: ({ reply, params, caller, body: content }) => {
      const order = { update: UPDATES.cancel, action: 'cancel', content };
      // Cancelling a cancelled flow is no error.
      const isDone = (view: FlowWithMoney) => view.state === 'cancelled';
      return answerOrder(deps, reply, giveOrder(deps, caller, addressOf(params), order, isDone));
    },
  });
  addRoute(server, {
    ...orderOfTwo,
    path: '/flows/:kind/:reference/approve-quote',
    operationId: 'approveQuote',
    permission: 'approve-quote',
    summary: 'Approves the quote of a flow that waits for this approval.',
    body: { schema: { CancelBody }, required: false },
    refusals: { 409: 'It does not wait for that.' },
    handler: ({ reply, params, caller, body: content }) => {
      const order = { update: UPDATES.approveQuote, action: APPROVE_QUOTE, content };
      return answerOrder(deps, reply, giveOrder(deps, caller, addressOf(params), order));
    },
  });
  addRoute(server, {
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
    // Once: the same order again finds the first one. The flow checks its content, by the rules of its kind.
    handler: ({ reply, params, caller, body: content }) => {
      const order = { update: UPDATES.pay, action: 'pay', content };
      return answerOrder(deps, reply, giveOrder(deps, caller, addressOf(params), order));
    },
  });
  addRoute(server, {
    ...order,
    path: '/flows/:kind/:reference/refund-invoice',
    operationId: 'provideRefundInvoice',
    permission: 'give-refund-invoice',
    summary: 'Gives the Lightning invoice that a refund of an offramp goes to.',
    body: { schema: { RefundInvoiceBody }, required: true, example: { invoice: 'lnbc…' } },
    refusals: { 409: 'It does not wait for that.' },
    handler: ({ reply, params, caller, body: content }) => {
      const order = { update: UPDATES.provideRefundInvoice, action: 'refund-invoice', content };
      return answerOrder(deps, reply, giveOrder(deps, caller, addressOf(params), order));
    },
  });
  addRoute(server, {
    ...orderOfTwo,
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
    handler: ({ reply, params, caller, body }) =>
      answerOrder(deps, reply, resolveFlow(deps, caller, addressOf(params), body)),
  });
  addRoute(server, {
    ...order,
    path: '/flows/:kind/:reference/withdraw',
    operationId: 'withdrawProposal',
    permission: 'withdraw',
    summary: 'Takes back an order that waits for a second person.',
    body: { schema: { CancelBody }, required: false, example: { note: 'the customer called back' } },
    refusals: { 409: 'None waits, or it is being carried out.' },
    handler: ({ params, caller, body: { note: why } }) => withdrawFromFlow(deps, caller, addressOf(params), why),
  });
}

/** The flow as JSON; 202 if the order waits for a second person. */
async function answerOrder(
  deps: FlowOperationDeps,
  reply: FastifyReply,
  ordered: Promise<{ readonly view: FlowWithMoney; readonly isProposed: boolean }>,
): Promise<Flow> {
  const { view, isProposed } = await ordered;
  if (isProposed) void reply.code(202);
  return flowJson(deps, view);
}

async function resolveFlow(
  deps: FlowOperationDeps,
  caller: Caller,
  address: FlowAddress,
  body: z.output<typeof ResolveBody>,
): Promise<{ readonly view: FlowWithMoney; readonly isProposed: boolean }> {
  const { action, note: why, eventId, until } = body;
  requireChoice(body, address, deps.nowMs());
  const choice = { ...(eventId === undefined ? {} : { eventId }), ...(until === undefined ? {} : { until }) };
  const order = { update: UPDATES.resolve, action, content: { action, note: why, ...choice }, choice };
  const facts = await deps.reader.facts(address.flowId);
  if (facts !== undefined && isTerminated(facts.status)) {
    const about = { flowId: address.flowId, action, ...whoIs(caller) };
    return recordingRefusals(deps, about, why, () => resume(deps, caller, address, order, facts));
  }
  const ordered = await giveOrder(deps, caller, address, order);
  deps.settler.checkSoon(address.flowId);
  return ordered;
}

/** Orders about one event. */
const OF_ONE_EVENT: readonly string[] = ['trust-settlement', 'accept-event', 'dismiss-event'] satisfies ParkAction[];

/** Before it can become a proposal, whose parts a second person is shown, and repeats. @throws Refusal 400 */
function requireChoice(
  body: Pick<z.output<typeof ResolveBody>, 'action' | 'eventId' | 'until'>,
  { reference }: FlowAddress,
  nowMs: number,
): void {
  const { action, eventId } = body;
  const isOfNone = eventId !== undefined && !OF_ONE_EVENT.includes(action);
  const wrong = isOfNone ? `"eventId" is possible for ${OF_ONE_EVENT.join(', ')} only.` : untilProblem(body, nowMs);
  if (wrong !== null) throw new Refusal(400, wrong, { reference });
}

/** @throws Refusal 403, 409; 503 if it is not known what the flow waits for */
async function withdrawFromFlow(
  deps: FlowOperationDeps,
  caller: Caller,
  address: FlowAddress,
  why: string | undefined,
): Promise<Flow> {
  const { reader, logger } = deps;
  const { flowId, reference } = address;
  const before = await flowJson(deps, await shownFlow(reader, address, asOrder(caller)));
  const waits = topicOf(before);
  if (waits === undefined) throw notNow(before, reference);
  await withdrawProposal(deps, caller, { flowId, ...waits }, why);
  logger.info({ flowId, actor: caller.name }, 'a proposed order was withdrawn');
  return flowJson(deps, await shownFlow(reader, address, asOrder(caller)));
}
