import type { Clock } from '../clock.js';
import type { Deposit } from './deposits.js';

/** `failure_details` of the settlement webhook, as the interface lists its members. */
export const failureDetails = (stage: 'deposit' | 'settlement', clock: Clock) => ({
  failure_stage: stage,
  failure_reason: stage === 'deposit' ? 'CUSTOMER_PAYMENT_FAILED' : 'RECIPIENT_UNREACHABLE',
  failure_message:
    stage === 'deposit' ? 'The customer did not pay' : 'The mobile money provider refused the payout to the recipient',
  failed_at: clock.iso(),
});

/** `refund_details`, present "when failed and a refund was started". */
export function refundDetails(deposit: Deposit, status: 'PENDING' | 'COMPLETED', clock: Clock) {
  const { refundConfig: config } = deposit;
  return {
    refund_method_used: config.primary_method,
    chain: config.chain,
    token: config.token,
    refund_initiated_at: clock.iso(),
    refund_status: status,
    refund_invoice: config.refund_invoice,
    refund_payment_hash: config.refund_payment_hash,
    refund_amount_msat: config.refund_amount_msat,
    refund_crypto_amount: config.refund_crypto_amount,
  };
}

/** `crypto_payment` of the settlement webhook. */
export function cryptoPayment(deposit: Deposit, clock: Clock) {
  const { chain, token, crypto_payment: payment } = deposit.request;
  const amount = Number(deposit.crypto.amount);
  return {
    chain,
    token,
    payment_hash: payment.payment_hash,
    received_at: clock.iso(),
    amount_msat: deposit.crypto.unit === 'MSAT' ? amount : undefined,
    crypto_amount: deposit.crypto.unit === 'MSAT' ? undefined : amount,
  };
}
