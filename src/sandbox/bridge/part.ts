import { Big } from 'big.js';
import type { Core } from '../core.js';
import type { Handlers } from '../operations/handler.js';
import type { JobKind } from '../scheduler.js';
import { createCreateBridgeDeposit, createQuoteBridge, createReportSettlement } from '../operations/bridge.js';
import { createProvider, PROVIDER_JOB } from '../provider.js';
import { createAdmission, createDeposits, type Deposits, positionOf } from './deposits.js';
import { BRIDGE_JOB, createBridge } from './bridge.js';
import { giveBack } from './money.js';
import { createQuotes } from './quotes.js';

export interface BridgePart {
  readonly handlers: Pick<Handlers, 'quoteBridge' | 'createBridgeDeposit' | 'reportSettlement'>;
  readonly jobs: Readonly<Record<string, JobKind>>;
  readonly deposits: Deposits;
  /** Crypto arrived at an address: if a failed deposit waited for it, its customer gets the fiat back. */
  cryptoArrived(address: string, token: string, amount: number): void;
}

/** The bridge, put together: its operations, its jobs, and the settlement provider. */
export function createBridgePart(core: Core & { readonly settlementUrl: () => string }): BridgePart {
  const deposits = createDeposits(core);
  const quotes = createQuotes(core);
  const provider = createProvider({ ...core, deposits });
  const bridge = createBridge({ ...core, deposits, onPaid: (deposit) => provider.paid(deposit) });
  const admission = createAdmission({ ...core, quotes });
  return {
    deposits,
    cryptoArrived(address, token, amount) {
      const deposit = deposits.awaitingRefundAt(address);
      if (deposit === undefined || deposit.crypto.unit !== token) return;
      if (new Big(amount).gte(deposit.crypto.amount)) bridge.move(deposit, giveBack(positionOf(deposit), 'refund'));
    },
    jobs: { [BRIDGE_JOB]: bridge.job, [PROVIDER_JOB]: provider.job },
    handlers: {
      quoteBridge: createQuoteBridge({ ...core, quotes }),
      createBridgeDeposit: createCreateBridgeDeposit({ ...core, admission, deposits, quotes, bridge }),
      reportSettlement: createReportSettlement({ deposits, bridge }),
    },
  };
}
