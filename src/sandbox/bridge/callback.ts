import type { BridgeStatus } from '../../contract/vocabulary.js';
import type { Clock } from '../clock.js';
import type { Deposit } from './deposits.js';
import { failureDetails, refundDetails } from './details.js';
import { scriptOf } from './endings.js';

export const BRIDGE_EVENT = 'transaction.status.updated';

/** What is told of a new status. "Payload shapes … of callbacks: not shown". */
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
  if (status === 'REFUNDED') return refundDetails(deposit, 'COMPLETED', clock);
  const announced = status === 'FAILED' && deposit.paidOut && scriptOf(deposit.ending).announcesRefund === true;
  return announced ? refundDetails(deposit, 'PENDING', clock) : undefined;
}
