import type { QuoteTerms } from '../../src/store/quote.js';
import { randomUUID } from 'node:crypto';
import type { FlowEvent } from '../../src/protocol/messages.js';
import bridgeTransfer from '../kinds/bridge-transfer.js';

export { exampleInput } from '../../src/cli/demo/play-scene.js';

/** A bridge transfer of 1,000.50 KES to 100 ZAR, over an address on CELO: its refund can be sent as crypto. */
export function transferInput(reference: string, more: Record<string, unknown> = {}): Record<string, unknown> {
  return { ...bridgeTransfer.input(reference), ...more };
}

/** A quote for that transfer which has run out; `figures`: whether it is known for how much it was. */
export function expiredQuote(reference: string, figures = true): QuoteTerms {
  const input = transferInput(reference) as Record<'amount' | 'source_currency' | 'chain' | 'token', string>;
  return {
    rateId: `rate-of-${reference}`,
    lifeMs: 1,
    cryptoAmount: figures ? '0.01' : null,
    cryptoUnit: input.token,
    sourceAmount: input.amount,
    sourceCurrency: input.source_currency,
    chain: input.chain,
    token: input.token,
  };
}

/** A settlement of that transfer, as the provider posts it. */
export function settlement(reference: string, status: string, more: Record<string, unknown> = {}) {
  return {
    webhook_type: 'settlement.update',
    provider_reference_id: reference,
    status,
    timestamp: '2026-01-01T00:00:00Z',
    crypto_payment: { chain: 'CELO', token: 'USDC' },
    ...more,
  };
}

/** A trusted callback of the service, as the gateway delivers it. */
export function trusted(status: string, more: Partial<FlowEvent> = {}): FlowEvent {
  return {
    id: randomUUID(),
    source: 'callback',
    trusted: true,
    proof: 'capability',
    status,
    receivedAt: new Date().toISOString(),
    facts: {},
    ...more,
  };
}
