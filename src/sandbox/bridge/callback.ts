import type { BridgeStatus } from '../../contract/vocabulary.js';
import type { Clock } from '../clock.js';
import type { Message } from '../deliveries/message.js';
import type { Deposit } from './deposits.js';
import { failureDetails, refundDetails } from './details.js';
import { scriptOf } from './endings.js';

export const BRIDGE_EVENT = 'transaction.status.updated';

/**
 * What `callback_url` is told of a new status. "Payload shapes … of callbacks: not shown": with a secret it is an
 * envelope of event and data, without one the bare fields (service-notes.md).
 */
export function bridgeCallback(deposit: Deposit, status: BridgeStatus, signed: boolean, clock: Clock): Message {
  const { request } = deposit;
  const data = {
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
  return {
    stream: 'callback',
    reference: deposit.reference,
    status,
    url: request.callback_url,
    body: JSON.stringify(signed ? { event: BRIDGE_EVENT, data } : data),
  };
}

function announcedRefund(deposit: Deposit, status: BridgeStatus, clock: Clock) {
  if (status === 'REFUNDED') return refundDetails(deposit, 'COMPLETED', clock);
  const announced = status === 'FAILED' && deposit.paidOut && scriptOf(deposit.ending).announcesRefund === true;
  return announced ? refundDetails(deposit, 'PENDING', clock) : undefined;
}
