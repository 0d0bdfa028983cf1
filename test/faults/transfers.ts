let counter = 0;

/** A reference that no other test uses; it begins with its word, by which it may be held. */
export function newReference(word: string): string {
  counter += 1;
  return `${word}-${process.pid}-${Date.now().toString(36)}-${counter}`;
}

/** A bridge transfer over an address on CELO: so that its refund can be sent as crypto. */
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
      recipient: { phone_number: '+27821234567', account_holder_name: 'A Recipient' },
    },
    ...more,
  };
}

/** The provider fails it and nobody refunds: so the flow sends the refund by itself. */
export function refundedByUsInput(reference: string, more: Record<string, unknown> = {}): Record<string, unknown> {
  return transferInput(reference, { amount: '1000.14', refund: { auto: true }, ...more });
}
