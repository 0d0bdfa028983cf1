import { Big } from 'big.js';
import type { BridgeStatus } from '../../contract/vocabulary.js';
import type { Clock } from '../clock.js';
import type { Deposit } from '../bridge/deposits.js';
import { cryptoPayment, failureDetails, refundDetails } from '../bridge/details.js';
import { scriptOf } from '../bridge/endings.js';

/** "webhook_type (string, required)"; its values are not shown. */
export const SETTLEMENT_TYPE = 'settlement.status.updated';

/** The settlement webhook's body, members as the interface lists them. */
export function settlementBody(deposit: Deposit, status: BridgeStatus, clock: Clock) {
  const script = scriptOf(deposit.ending);
  return {
    webhook_type: SETTLEMENT_TYPE,
    provider_reference_id: deposit.reference,
    kotani_reference_id: deposit.id,
    status,
    timestamp: clock.iso(),
    crypto_payment: cryptoPayment(deposit, clock),
    settlement_details:
      status === 'COMPLETED' ? settlementDetails(deposit, script.mismatchingAmount === true, clock) : undefined,
    failure_details: status === 'FAILED' ? failureDetails('settlement', clock) : undefined,
    refund_details:
      status === 'FAILED' && script.announcesRefund === true ? refundDetails(deposit, 'PENDING', clock) : undefined,
  };
}

function settlementDetails(deposit: Deposit, mismatching: boolean, clock: Clock) {
  const { amount, currency, recipient } = deposit.request.settlement;
  return {
    amount: mismatching ? new Big(amount).minus(new Big(amount).times('0.1')).toNumber() : amount,
    currency,
    recipient_phone: recipient.phone_number,
    payment_method: recipient.payment_method,
    transaction_id: `TX-${deposit.id}`,
    settled_at: clock.iso(),
    provider: recipient.mobile_money_provider,
    bank_name: recipient.bank_code,
  };
}
