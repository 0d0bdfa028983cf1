import type { BridgeStatus } from '../../contract/vocabulary.js';
import type { Clock } from '../clock.js';
import type { Deposit } from './deposits.js';
import { scriptOf } from './endings.js';

/** `failure_details` of the settlement webhook, as the interface lists its members. */
export const failureDetails = (stage: 'deposit' | 'settlement', clock: Clock) => ({
  failure_stage: stage,
  failure_reason: stage === 'deposit' ? 'CUSTOMER_PAYMENT_FAILED' : 'RECIPIENT_UNREACHABLE',
  failure_message:
    stage === 'deposit' ? 'The customer did not pay' : 'The mobile money provider refused the payout to the recipient',
  failed_at: clock.iso(),
});

/** `refund_details`, present "when failed and a refund was started"; of one that is only announced, what is to come back. */
export function refundDetails(deposit: Deposit, status: 'announced' | 'begun' | 'done', clock: Clock) {
  const { refundConfig: config } = deposit;
  const begun = {
    refund_method_used: config.primary_method,
    refund_initiated_at: clock.iso(),
    refund_payment_hash: config.refund_payment_hash,
  };
  return {
    ...(status === 'announced' ? {} : begun),
    chain: config.chain,
    token: config.token,
    refund_status: status === 'done' ? 'COMPLETED' : 'PENDING',
    refund_invoice: config.refund_invoice,
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

export const BRIDGE_EVENT = 'transaction.status.updated';

/** The data reported with a new status. "Payload shapes … of callbacks: not shown". */
export function bridgeData(deposit: Deposit, status: BridgeStatus, clock: Clock) {
  const { request } = deposit;
  return {
    provider_reference_id: deposit.reference,
    kotani_reference_id: deposit.id,
    status,
    amount: request.amount,
    currency: request.source_currency,
    chain: request.chain,
    token: request.token,
    payment_hash: request.crypto_payment.payment_hash,
    timestamp: clock.iso(),
    failure_details:
      status === 'FAILED' ? failureDetails(deposit.paidOut ? 'settlement' : 'deposit', clock) : undefined,
    refund_details: announcedRefund(deposit, status, clock),
  };
}

function announcedRefund(deposit: Deposit, status: BridgeStatus, clock: Clock) {
  if (status === 'REFUNDED') return refundDetails(deposit, 'done', clock);
  const { refund } = scriptOf(deposit.ending);
  return status === 'FAILED' && deposit.paidOut && refund !== undefined
    ? refundDetails(deposit, refund, clock)
    : undefined;
}
