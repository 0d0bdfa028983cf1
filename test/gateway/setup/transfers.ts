import { randomUUID } from 'node:crypto';

export const newReference = (): string => `T-${randomUUID()}`;

/** The input of a bridge transfer that passes every check. */
export function transferInput(reference: string, changes: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    customer_key: 'cust-1',
    provider_reference_id: reference,
    amount: '1250.50',
    source_currency: 'KES',
    wallet_id: 'wallet-1',
    transaction_type: 'cross_border',
    chain: 'LIGHTNING',
    token: 'MSAT',
    crypto_payment: { bolt11: 'lnbc1', payment_hash: 'ab12', amount_msat: '5000' },
    settlement: { amount: '9.5', currency: 'USD', recipient: { account_holder_name: 'Jane' } },
    ...changes,
  };
}

/** A settlement as the provider posts it. */
export function settlement(reference: string, status: string, changes: Record<string, unknown> = {}) {
  return {
    webhook_type: 'settlement.update',
    provider_reference_id: reference,
    kotani_reference_id: `K-${reference}`,
    status,
    timestamp: '2026-01-01T00:00:00Z',
    crypto_payment: { chain: 'LIGHTNING', token: 'MSAT', payment_hash: 'ab12' },
    ...changes,
  };
}
