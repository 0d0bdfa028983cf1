import { createAdmission } from './bridge/admission.js';
import { createBridge, BRIDGE_JOB } from './bridge/bridge.js';
import { createDeposits, type Deposits } from './bridge/deposits.js';
import { createQuotes } from './bridge/quotes.js';
import type { Clock } from './clock.js';
import type { Database } from './database.js';
import type { Adversary } from './deliveries/adversary.js';
import type { Deliveries } from './deliveries/deliveries.js';
import type { History } from './history.js';
import type { Executions } from './ledger/executions.js';
import type { Ledger } from './ledger/ledger.js';
import { createCreateBridgeDeposit } from './operations/create-bridge-deposit.js';
import type { Handlers } from './operations/handler.js';
import { createQuoteBridge } from './operations/quote-bridge.js';
import { createReportSettlement } from './operations/report-settlement.js';
import { createProvider, PROVIDER_JOB } from './provider/provider.js';
import type { Scenarios } from './scenarios.js';
import type { JobKind, Scheduler } from './scheduler.js';
import type { LiveSettings } from './settings.js';

/** Everything of the bridge, put together: its operations, its jobs, its records. */
export function createBridgePart(deps: {
  database: Database;
  clock: Clock;
  settings: LiveSettings;
  scheduler: Scheduler;
  history: History;
  ledger: Ledger;
  executions: Executions;
  scenarios: Scenarios;
  deliveries: Deliveries;
  adversary: Adversary;
  createId: () => string;
  settlementUrl: () => string;
  signedCallbacks: boolean;
}): { handlers: Handlers; jobs: Record<string, JobKind>; deposits: Deposits } {
  const deposits = createDeposits(deps);
  const quotes = createQuotes(deps);
  const provider = createProvider({ ...deps, deposits });
  const bridge = createBridge({ ...deps, deposits, onPaid: (deposit) => provider.paid(deposit) });
  const admission = createAdmission({ ...deps, quotes });
  return {
    deposits,
    jobs: { [BRIDGE_JOB]: bridge.job, [PROVIDER_JOB]: provider.job },
    handlers: {
      quoteBridge: createQuoteBridge({ ...deps, quotes }),
      createBridgeDeposit: createCreateBridgeDeposit({ ...deps, admission, deposits, quotes, bridge }),
      reportSettlement: createReportSettlement({ deposits, bridge }),
    },
  };
}
