import { Big } from 'big.js';
import type { BridgeStatus } from '../contract/vocabulary.js';
import type { Clock } from './clock.js';
import type { Deliveries } from './deliveries/deliveries.js';
import type { Deposit, Deposits } from './bridge/deposits.js';
import { type ProviderReport, scriptOf } from './bridge/endings.js';
import { accounts, type Ledger, transfer } from './ledger.js';
import type { JobKind, Scheduler } from './scheduler.js';
import type { LiveSettings } from './settings.js';
import { cryptoPayment, failureDetails, refundDetails } from './bridge/details.js';

export const PROVIDER_JOB = 'provider-report';

export interface Provider {
  /** The crypto of this deposit arrived; inside `database.write`. */
  paid(deposit: Deposit): void;
  readonly job: JobKind;
}

/**
 * The settlement provider: another company, which pays the recipient and posts settlements to the integrator. It does
 * not know the service's statuses; the service learns of a settlement only by a report.
 */
export function createProvider(deps: {
  deposits: Deposits;
  deliveries: Deliveries;
  ledger: Ledger;
  scheduler: Pick<Scheduler, 'schedule'>;
  settings: LiveSettings;
  clock: Clock;
  settlementUrl: () => string;
}): Provider {
  const { deposits, deliveries, ledger, scheduler, settings, clock, settlementUrl } = deps;

  function plan(deposit: Deposit, index: number): void {
    const script = scriptOf(deposit.ending);
    if (script.provider[index] === undefined) return;
    const { stepMs, slowFactor } = settings.current();
    scheduler.schedule(PROVIDER_JOB, script.slow === true ? stepMs * slowFactor : stepMs, { id: deposit.id, index });
  }

  function report(deposit: Deposit, status: ProviderReport): void {
    const { amount, currency } = deposit.request.settlement;
    if (status === 'COMPLETED') {
      const postings = transfer(accounts.provider, accounts.recipient(deposit.reference), currency, String(amount));
      ledger.post({ kind: 'payout', reference: deposit.reference, executionId: null, postings });
    }
    deliveries.send({
      stream: 'settlement',
      reference: deposit.reference,
      status,
      event: '',
      url: settlementUrl(),
      body: JSON.stringify(settlementBody(deposit, status, clock)),
    });
  }

  return {
    paid: (deposit) => plan(deposit, 0),
    job: {
      lane: 'commit',
      run({ id, index }: { id: string; index: number }) {
        const deposit = deposits.get(id);
        const status = deposit && scriptOf(deposit.ending).provider[index];
        if (deposit === undefined || status === undefined) return;
        report(deposit, status);
        plan(deposit, index + 1);
      },
    },
  };
}

/** "webhook_type (string, required)"; its values are not shown. */
const SETTLEMENT_TYPE = 'settlement.status.updated';

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
      status === 'FAILED' && script.refund !== undefined ? refundDetails(deposit, script.refund, clock) : undefined,
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
