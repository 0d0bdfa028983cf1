import type { z } from 'zod';
import { createApiKey, createIntegrator, getKycStatus, updateWebhook, verifyHuman } from './account.js';
import { createBridgeDeposit, quoteBridge, reportSettlement } from './bridge.js';
import { createBankCheckout, createCardDeposit, getMobileMoneyDeposit, getOnChainDeposit } from './deposit.js';
import { createInvoice, getInvoice, getInvoicePayment, payInvoice } from './invoice.js';
import { liveOperations } from './live.js';
import { createOfframp, getOfframp } from './offramp.js';
import { createOnramp, getCryptoSend, sendCrypto } from './onramp.js';
import type { Operation } from './operation.js';
import { createBankWithdrawal } from './withdrawal.js';

/** Every endpoint of the service. Client, sandbox routes, proxy and the OpenAPI document derive from this table. */
export const operations = {
  verifyHuman,
  createApiKey,
  createIntegrator,
  updateWebhook,
  getKycStatus,
  createOnramp,
  sendCrypto,
  getCryptoSend,
  createOfframp,
  getOfframp,
  createBankCheckout,
  createCardDeposit,
  getMobileMoneyDeposit,
  getOnChainDeposit,
  createBankWithdrawal,
  createInvoice,
  getInvoice,
  payInvoice,
  getInvoicePayment,
  quoteBridge,
  createBridgeDeposit,
  reportSettlement,
} as const satisfies Record<string, Operation>;

export type OperationName = keyof typeof operations;

export { liveOperations };
export type LiveOperationName = keyof typeof liveOperations;

/** What the client can call: the interface, and what only the live service has. */
export const callable = { ...operations, ...liveOperations } as const;
export type CallableName = keyof typeof callable;
export const callableNames = Object.keys(callable) as CallableName[];

/** Operations that move money or commit to it: only sent under a claim. */
export type MoneyOperationName = {
  [N in OperationName]: (typeof operations)[N]['effect'] extends 'money' ? N : never;
}[OperationName];

/** The argument of a call: the body, with the path parameter as a member of it; or that alone, or nothing. */
export type OperationArgument<N extends CallableName> = (typeof callable)[N] extends { readonly body: infer B }
  ? z.input<B & z.ZodType>
  : (typeof callable)[N] extends { readonly param: string }
    ? string
    : void;

/** The result of a call: `data` of the answer, as our tolerant schema reads it. */
export type OperationData<N extends CallableName> = z.output<(typeof callable)[N]['data']>;

export const operationNames = Object.keys(operations) as OperationName[];
