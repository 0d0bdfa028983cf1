import type { OperationName } from '../contract/index.js';
import type { Integrator } from './account/integrator.js';
import type { Tokens } from './account/tokens.js';
import { createBridgePart } from './bridge/part.js';
import type { Deposits } from './bridge/deposits.js';
import type { Core } from './core.js';
import { createFiatLegs } from './deposit/fiat-legs.js';
import { createInvoices } from './invoice.js';
import {
  createCreateApiKey,
  createCreateIntegrator,
  createGetKycStatus,
  createUpdateWebhook,
  createVerifyHuman,
} from './operations/account.js';
import {
  createCreateBankCheckout,
  createCreateCardDeposit,
  createCreateOnramp,
  createGetMobileMoneyDeposit,
  createGetOnChainDeposit,
} from './operations/deposits.js';
import {
  createCreateBankWithdrawal,
  createCreateOfframp,
  createGetCryptoSend,
  createGetOfframp,
  createSendCrypto,
} from './operations/payouts.js';
import {
  createCreateInvoice,
  createGetInvoicePayment,
  createGetInvoice,
  createPayInvoice,
} from './operations/invoices.js';
import type { Handler, Handlers } from './operations/handler.js';
import type { JobKind } from './scheduler.js';
import { createTransactionTools, type TransactionTools } from './transactions/tools.js';

export interface Service extends TransactionTools {
  readonly handlers: Handlers;
  readonly jobs: Readonly<Record<string, JobKind>>;
  readonly deposits: Deposits;
  /**
   * Carries an operation out while no caller waits for its answer; true if that executed something. Inside
   * `database.write`. A refusal is no error here: handlers refuse before they write.
   */
  execute(operation: string, call: unknown): boolean;
}

/** The service, put together. A new operation is one line here; one that is forgotten does not compile. */
export function createService(
  core: Core & {
    readonly settlementUrl: () => string;
    readonly checkoutUrl: (id: string) => string;
    readonly tokens: Tokens;
    readonly integrator: Integrator;
  },
): Service {
  const bridge = createBridgePart(core);
  const tools = createTransactionTools({
    ...core,
    onCryptoArrived: ({ receiverAddress, token, cryptoAmount }) =>
      bridge.cryptoArrived(receiverAddress, token, cryptoAmount),
  });
  const deps = {
    ...core,
    ...tools,
    fiatLegs: createFiatLegs({ ...core, ...tools }),
    invoices: createInvoices(tools.transactions),
  };
  const handlers: Handlers = {
    ...bridge.handlers,
    verifyHuman: createVerifyHuman(deps),
    createApiKey: createCreateApiKey(deps),
    createIntegrator: createCreateIntegrator(deps),
    updateWebhook: createUpdateWebhook(deps),
    getKycStatus: createGetKycStatus(deps),
    createOnramp: createCreateOnramp(deps),
    sendCrypto: createSendCrypto(deps),
    getCryptoSend: createGetCryptoSend(deps),
    createOfframp: createCreateOfframp(deps),
    getOfframp: createGetOfframp(deps),
    createBankCheckout: createCreateBankCheckout(deps),
    createCardDeposit: createCreateCardDeposit(deps),
    getMobileMoneyDeposit: createGetMobileMoneyDeposit(deps),
    getOnChainDeposit: createGetOnChainDeposit(deps),
    createBankWithdrawal: createCreateBankWithdrawal(deps),
    createInvoice: createCreateInvoice(deps),
    getInvoice: createGetInvoice(deps),
    payInvoice: createPayInvoice(deps),
    getInvoicePayment: createGetInvoicePayment(deps),
  };
  return {
    ...tools,
    handlers,
    jobs: { ...bridge.jobs, ...tools.jobs },
    deposits: bridge.deposits,
    execute(operation, call) {
      const before = core.executions.count();
      const handler = handlers[operation as OperationName] as Handler<OperationName>;
      handler(call as never);
      return core.executions.count() > before;
    },
  };
}
