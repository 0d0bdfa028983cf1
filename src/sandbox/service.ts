import type { OperationName } from '../contract/index.js';
import type { CryptoSendRequest } from '../contract/onramp.js';
import { type Integrator, integratorHandlers } from './account/integrator.js';
import { tokenHandlers, type Tokens } from './account/tokens.js';
import { createBridgePart } from './bridge/part.js';
import type { Deposits } from './bridge/deposits.js';
import type { Core } from './core.js';
import { CRYPTO_SEND } from './crypto-send.js';
import type { Handler, Handlers } from './handler.js';
import { INVOICE, INVOICE_PAYMENT } from './invoice.js';
import { kindHandlers, kindOf } from './kinds.js';
import type { JobKind } from './scheduler.js';
import { createTransactionTools, type TransactionTools } from './transactions/tools.js';
import type { Transaction } from './transactions/transactions.js';

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

/** The service, put together. An operation that is forgotten does not compile. */
export function createService(
  core: Core & {
    readonly settlementUrl: () => string;
    readonly checkoutUrl: (id: string) => string;
    readonly tokens: Tokens;
    readonly integrator: Integrator;
  },
): Service {
  const bridge = createBridgePart(core);
  const tools = createTransactionTools({ ...core, kindOf, onEntered });
  const handlers: Handlers = {
    ...bridge.handlers,
    ...tokenHandlers(core),
    ...integratorHandlers(core.integrator),
    ...kindHandlers({ ...core, ...tools }),
  };

  /** What one transaction sets going elsewhere. */
  function onEntered({ operation, reference, status, body }: Transaction): void {
    if (status !== 'SUCCESSFUL') return;
    if (operation === CRYPTO_SEND.operation) {
      const { receiverAddress, token, cryptoAmount } = body as CryptoSendRequest;
      bridge.cryptoArrived(receiverAddress, token, cryptoAmount);
    }
    if (operation !== INVOICE_PAYMENT.operation) return;
    const [invoice] = tools.transactions.ofReference(reference, INVOICE.operation);
    if (invoice !== undefined) tools.carrier.apply(invoice.id, { kind: 'payment', status: 'PAID' });
  }

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
