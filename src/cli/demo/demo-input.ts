/** All waits of our own (retries, deadlines, the wait for a refund) are that much shorter in the demo. */
const TIME_SCALE = 0.02;
/** So that, scaled, a slow machine still ends before it. */
const DEADLINE_SECONDS = 36_000;

/** A bridge transfer of 1,250 Kenyan shillings to Ghana, by way of USDC. */
export function demoInput(reference: string): Record<string, unknown> {
  return {
    customer_key: 'demo-customer',
    provider_reference_id: reference,
    amount: '1250',
    source_currency: 'KES',
    wallet_id: 'demo-wallet',
    transaction_type: 'cross_border',
    chain: 'POLYGON',
    token: 'USDC',
    crypto_payment: { address: '0x52908400098527886E0F7030069857D2E4169EE7', crypto_amount: '9.5' },
    settlement: {
      amount: '146.70',
      currency: 'GHS',
      country: 'GH',
      recipient: { phone_number: '+233240000000', payment_method: 'mobile_money', mobile_money_provider: 'MTN' },
    },
    deadlineSeconds: DEADLINE_SECONDS,
    timeScale: TIME_SCALE,
  };
}
