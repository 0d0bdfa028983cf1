import type { MoneyOperationName } from '../../contract/index.js';
import type { FlowKind } from '../../flows/vocabulary.js';

/** How an operation's body becomes the input of its flow. */
export interface MoneyRoute {
  readonly kind: FlowKind;
  /** The body keeps the operation's own schema already. @default the body itself */
  readonly inputOf?: (body: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>;
}

/** Part of the fingerprint of every invoice: changed, a repeated request of yesterday would be another one. */
const INVOICE_DEADLINE_SECONDS = 7 * 86_400;

/**
 * The flow of each money operation. The caller's callback URL becomes the flow's `callbackUrl`; the service is given ours.
 */
export const MONEY_ROUTES = {
  createBridgeDeposit: {
    kind: 'bridge-transfer',
    // Who speaks the service's interface has agreed to no slippage: an expired quote is only replaced by one as good.
    inputOf: ({ callback_url: callbackUrl, ...body }) => ({ ...body, callbackUrl, maxSlippageBps: 0 }),
  },
  createOnramp: { kind: 'onramp' },
  sendCrypto: { kind: 'crypto-send' },
  createOfframp: { kind: 'offramp' },
  createBankCheckout: { kind: 'bank-checkout' },
  createCardDeposit: { kind: 'card-deposit' },
  createBankWithdrawal: { kind: 'bank-withdrawal' },
  // It waits until `payInvoice` comes with the same reference.
  createInvoice: {
    kind: 'invoice-payment',
    inputOf: (body) => ({ ...body, pay: 'generated', deadlineSeconds: INVOICE_DEADLINE_SECONDS }),
  },
  payInvoice: { kind: 'invoice-payment', inputOf: (body) => ({ ...body, pay: 'existing' }) },
} as const satisfies Record<MoneyOperationName, MoneyRoute>;
