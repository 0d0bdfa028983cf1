import type { Clock } from '../clock.js';
import type { Deliveries } from '../deliveries/deliveries.js';
import type { Deposit, Deposits } from '../bridge/deposits.js';
import { type ProviderReport, scriptOf } from '../bridge/endings.js';
import { accounts, type Ledger, transfer } from '../ledger/ledger.js';
import type { JobKind, Scheduler } from '../scheduler.js';
import type { LiveSettings } from '../settings.js';
import { settlementBody } from './settlement-body.js';

export const PROVIDER_JOB = 'provider-report';

export interface Provider {
  /** The crypto of this deposit arrived; inside `database.write`. */
  paid(deposit: Deposit): void;
  readonly job: JobKind;
}

/**
 * The settlement provider: another company, which pays the recipient out and posts settlements to the integrator. It
 * knows nothing of the service's statuses; the service hears of a settlement only when it is reported to it.
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
