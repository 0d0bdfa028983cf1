import type { FastifyReply } from 'fastify';
import type { InvoicePaymentInput } from '../../flows/invoice-payment.js';
import type { CauseCode } from '../../protocol/causes.js';
import { newestMac } from '../../protocol/fingerprint.js';
import { PAID_BY_ANOTHER_WAY } from '../../protocol/messages.js';
import { refusalCodeOf } from '../../protocol/refusals.js';
import { UPDATES } from '../../protocol/vocabulary.js';
import { proofOfOrder } from '../../store/order-proof.js';
import { submitFingerprint } from '../../store/store-key.js';
import { awaitUpdate, startAndAwaitAnswer, type Waiting } from '../../temporal/await-answer.js';
import { recordingRefusals } from '../flows/give-order.js';
import { isKnownFlow, recordingStart } from '../flows/start.js';
import { type Caller, whoIs } from '../http/bearer-token.js';
import { OtherRequestRefusal, Refusal, RETRY_AFTER_SECONDS } from '../http/refusal.js';
import type { ProxyDeps } from './deps.js';
import { answerByState, answerOfClaim, answerOfFlow, claimOf, isUnsent, otherRequest } from './known-answer.js';
import type { MoneyRequest } from './money-request.js';
import { isThere, left } from './send-money.js';

type Payment = Extract<InvoicePaymentInput, { pay: 'existing' }>;

/**
 * Pays the invoice of the reference, once: the invoice of the flow that generated it, by the update `pay`; if there is
 * no such flow, starts one that only pays.
 */
export async function payInvoice(
  deps: ProxyDeps,
  request: MoneyRequest,
  reply: FastifyReply,
  caller: Caller,
): Promise<void> {
  const { address } = request;
  const { flowId } = address;
  const waiting: Waiting = { withinMs: deps.settings.proxyTimeoutMs, signal: deps.closing };
  const startedMs = deps.monotonicMs();
  const facts = await deps.reader.facts(flowId);
  const requireTheirs = () => deps.owners.require(caller, 'start', address);
  // An invoice of which no flow is known is paid by a flow of this caller's.
  if (facts !== undefined || (await isKnownFlow(deps, flowId))) await requireTheirs();
  // Not before: that the claim has another content says what somebody paid.
  if (await answerOfClaim(deps, reply, request, await claimOf(deps, request))) return;
  if (facts === undefined) {
    const start = async (startId: string, found: () => Promise<void>) => {
      const by = { startId, name: caller.name };
      const waited = await startAndAwaitAnswer(deps, address.kind, request.input, waiting, by);
      if (waited.kind === 'exists' || (waited.kind === 'not-yet' && !(await isThere(deps, request, by)))) {
        throw otherRequest(request);
      }
      if (waited.kind === 'not-yet') await found();
      return waited;
    };
    // Another request may have been quicker, with the invoice or with its payment: then this is an order to that flow.
    const waited = await recordingStart(deps, caller, request, start).catch((error: unknown) => {
      if (error instanceof OtherRequestRefusal) return undefined;
      throw error;
    });
    if (waited !== undefined) {
      if (waited.kind === 'answered' && (await answerOfFlow(deps, request, reply, waited.answer))) return;
      return answerByState(deps, request, reply);
    }
  } else if (!facts.isOpen) return answerByState(deps, request, reply);
  // The request that was quicker may have been another name's.
  await requireTheirs();
  const { amount, currency, mobileMoney } = request.input as Payment;
  const id = `pay-${newestMac(submitFingerprint(deps.store, request.name, { mobileMoney, amount, currency }))}`;
  const about = { ...whoIs(caller), flowId, subject: id };
  await recordingRefusals(deps, { ...about, action: 'pay' }, undefined, async () => {
    await deps.recordPayOrder(about);
    await orderToPay(deps, request, reply, { id, actor: caller.name, startedMs });
  });
}

/** Orders the flow to pay, under an id that is the same for the same payment. */
async function orderToPay(
  deps: ProxyDeps,
  request: MoneyRequest,
  reply: FastifyReply,
  { id, actor, startedMs }: { readonly id: string; readonly actor: string; readonly startedMs: number },
): Promise<void> {
  const { flowId } = request.address;
  const { amount, currency, mobileMoney } = request.input as Payment;
  const order = { mobileMoney, amount, currency, actor };
  const proof = proofOfOrder(deps.store, { flowId, update: UPDATES.pay, order }, { id, second: null });
  const update = { name: UPDATES.pay, id, args: [{ ...order, proof }] };
  const waited = await awaitUpdate(deps.client, flowId, update, {
    withinMs: left(deps, startedMs),
    signal: deps.closing,
  });
  if (waited.kind === 'not-yet' && !waited.accepted) throw notTaken(request);
  if (waited.kind === 'answered' && (await answerOfFlow(deps, request, reply, waited.answer))) return;
  if (waited.kind !== 'refused') return answerByState(deps, request, reply);
  // A flow that was reset, or restored, does not know an order that was carried out before: its claim does.
  if (waited.type === PAID_BY_ANOTHER_WAY && !isUnsent(await claimOf(deps, request))) {
    return answerByState(deps, request, reply);
  }
  throwRefusal(request, waited);
  await answerByState(deps, request, reply, waited);
}

/** The flow is ending, or has ended: its state says how. Or it could not record the order. */
const ANSWERED_BY_STATE: readonly string[] = ['flow_ended', 'store_unavailable'] satisfies CauseCode[];

function throwRefusal(request: MoneyRequest, { type, message }: { type: string; message: string }): void {
  const { reference } = request.address;
  if (type === 'other_request') throw otherRequest(request);
  if (type === 'invalid_input') throw new Refusal(400, message, { reference, code: 'invalid_input' });
  if (!ANSWERED_BY_STATE.includes(type)) throw new Refusal(409, message, { reference, code: refusalCodeOf(type) });
}

/** An order that no worker accepted is in no history: only its sender still has it. */
function notTaken({ address: { reference } }: MoneyRequest): Refusal {
  return new Refusal(
    503,
    'No worker took the order to pay yet. Send it again: it is paid once.',
    { reference, code: 'no_worker' },
    RETRY_AFTER_SECONDS,
  );
}
