import type { OperationName } from '../contract/index.js';
import { createBridgePart } from './bridge/part.js';
import type { Core } from './core.js';
import { createCryptoSendPart } from './crypto-send/part.js';
import type { Handlers } from './operations/handler.js';
import type { JobKind } from './scheduler.js';
import type { Deposits } from './bridge/deposits.js';

export interface Service {
  readonly handlers: Handlers;
  readonly jobs: Readonly<Record<string, JobKind>>;
  readonly deposits: Deposits;
  /**
   * Does what an operation does, without anybody waiting for its answer; true where that executed something. Inside
   * `database.write`. A refusal is no error here: handlers refuse before they write.
   */
  execute(operation: string, call: unknown): boolean;
}

/** The service, put together from its parts. A new part is one line here. */
export function createService(
  core: Core & { readonly settlementUrl: () => string; readonly signedCallbacks: boolean },
): Service {
  const bridge = createBridgePart(core);
  const cryptoSend = createCryptoSendPart({
    ...core,
    onArrived: ({ request }) => bridge.cryptoArrived(request.receiverAddress, request.token, request.cryptoAmount),
  });
  const handlers: Handlers = { ...bridge.handlers, ...cryptoSend.handlers };
  return {
    handlers,
    jobs: { ...bridge.jobs, ...cryptoSend.jobs },
    deposits: bridge.deposits,
    execute(operation, call) {
      const before = core.executions.count();
      const handler = handlers[operation as OperationName];
      handler?.(call as never);
      return core.executions.count() > before;
    },
  };
}
