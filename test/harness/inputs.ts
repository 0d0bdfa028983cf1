import { randomUUID } from 'node:crypto';
import type { FlowEvent } from '../../src/protocol/messages.js';

export { exampleInput } from '../../src/cli/demo/play-scene.js';

/** A bridge transfer of 1,000.50 KES to 100 ZAR, over an address on CELO: its refund can be sent as crypto. */
export function transferInput(reference: string, more: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    customer_key: 'customer-1',
    provider_reference_id: reference,
    amount: '1000.50',
    source_currency: 'KES',
    wallet_id: 'wallet-1',
    transaction_type: 'cross_border',
    chain: 'CELO',
    token: 'USDC',
    crypto_payment: { address: '0x1111111111111111111111111111111111111111', crypto_amount: '7.5' },
    settlement: {
      amount: '100',
      currency: 'ZAR',
      country: 'ZA',
      recipient: { phone_number: '+27821234567', account_holder_name: 'Canary Recipient' },
    },
    ...more,
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
