import { randomUUID } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { callbackCapability } from '../../src/flows/capability.js';
import { bridgeTransferFlow } from '../../src/flows/bridge-transfer.js';
import type { FlowEvent } from '../../src/protocol/messages.js';
import { startAndAwaitAnswer } from '../../src/temporal/await-answer.js';
import { requestBytes } from './http-load.js';
import { inTurns } from '../../src/in-turns.js';
import type { Stack } from './stack.js';

const [QUOTE, DEPOSIT] = ['/api/v3/rate/crypto-bridge', '/api/v3/deposit/crypto-bridge'];
const OPENED_AT_ONCE = 8;
const OPENED_WITHIN_MS = 20_000;
/** A magic amount: the sandbox sends no callback after the deposit. Every event comes from the benchmark. */
const SILENT_AMOUNT = 1000.18;
const TERMS = { source_currency: 'KES', source_amount: SILENT_AMOUNT, crypto_chain: 'CELO', crypto_token: 'CUSD' };

/** A caller of the service's interface, through the gateway. */
async function post(stack: Stack, path: string, body: unknown): Promise<Record<string, unknown>> {
  const answer = await fetch(stack.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer dev-token' },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`POST ${path}: ${answer.status} ${text}`);
  return (JSON.parse(text) as { data: Record<string, unknown> }).data;
}

export async function quote(stack: Stack): Promise<string> {
  return String((await post(stack, QUOTE, TERMS))['rate_id']);
}

/** The caller's request that starts the transfer of a quote; answered when the service's own answer is there. */
export function depositRequest(
  stack: Stack,
  {
    reference,
    rateId,
    callbackUrl,
  }: { readonly reference: string; readonly rateId: string; readonly callbackUrl: string },
): Buffer {
  const body = JSON.stringify({
    customer_key: 'customer-1',
    provider_reference_id: reference,
    rate_id: rateId,
    amount: SILENT_AMOUNT,
    source_currency: 'KES',
    wallet_id: 'wallet-1',
    transaction_type: 'cross_border',
    chain: 'CELO',
    token: 'CUSD',
    crypto_payment: { address: '0x00000000000000000000000000000000000000aa', crypto_amount: 7.5 },
    settlement: { amount: 115.5, currency: 'GHS', recipient: { phone_number: '+233241234567' } },
    callback_url: callbackUrl,
  });
  return requestBytes(stack.url, DEPOSIT, { authorization: 'Bearer dev-token' }, body);
}

/**
 * Transfers that have made their deposit and wait for events. No caller gets callbacks about them: that would be a workflow
 * of its own for each.
 */
export function openTransfers(stack: Stack, count: number): Promise<readonly string[]> {
  const waiting = { withinMs: OPENED_WITHIN_MS, signal: new AbortController().signal };
  return inTurns(Array.from({ length: count }), OPENED_AT_ONCE, async () => {
    const reference = `bench-${randomUUID()}`;
    const input = transferInput(reference, String(SILENT_AMOUNT));
    const { kind } = await startAndAwaitAnswer(stack, 'bridge-transfer', input, waiting);
    if (kind !== 'answered') throw new Error(`the deposit of ${reference} was not made: ${kind}`);
    return reference;
  });
}

/** The input of a transfer that is started in Temporal; the amount's decimals are a wish to the sandbox. */
export function transferInput(reference: string, amount: string) {
  return bridgeTransferFlow.input.parse({
    customer_key: 'customer-1',
    provider_reference_id: reference,
    amount,
    source_currency: 'KES',
    wallet_id: 'wallet-1',
    transaction_type: 'cross_border',
    chain: 'CELO',
    token: 'CUSD',
    crypto_payment: { address: '0x00000000000000000000000000000000000000aa', crypto_amount: '7.5' },
    settlement: { amount: '115.5', currency: 'GHS', recipient: { phone_number: '+233241234567' } },
  });
}

export const flowIdOfTransfer = (reference: string): string => `bridge-transfer/${reference}`;

/** The service's post: each has unique content, so that none is a repeat of another. */
export function webhook(stack: Stack, reference: string, status: string): Buffer {
  const flowId = flowIdOfTransfer(reference);
  const body = JSON.stringify({
    // Of no operation's name: a bridge transfer takes that of another one for a claim.
    event: 'transaction.status.updated',
    data: {
      provider_reference_id: reference,
      status,
      amount: SILENT_AMOUNT,
      currency: 'KES',
      message: `Delivery ${randomUUID()}`,
      updated_at: new Date().toISOString(),
    },
  });
  const [id, at] = [`msg_${randomUUID()}`, new Date()];
  const headers = {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': new Webhook(stack.webhookSecret).sign(id, at, body),
  };
  return requestBytes(stack.url, `/callbacks/${flowId}/${callbackCapability(stack.store, flowId)}`, headers, body);
}

/** The same event, as the gateway would signal it. */
export function signalled(status: string): FlowEvent {
  return {
    id: `evt_${randomUUID()}`,
    source: 'callback',
    trusted: true,
    proof: 'signature',
    status,
    receivedAt: new Date().toISOString(),
    facts: { amount: String(SILENT_AMOUNT), currency: 'KES' },
  };
}
