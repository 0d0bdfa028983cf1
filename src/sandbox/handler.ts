import type { z } from 'zod';
import type { OperationName, operations } from '../contract/index.js';
import type { Answer } from './ledger.js';
import type { Refusal } from './refusal.js';
import type { Core } from './core.js';
import type { TransactionTools } from './transactions/tools.js';

type BodyOf<N extends OperationName> = (typeof operations)[N] extends { readonly body: infer B extends z.ZodType }
  ? z.output<B>
  : undefined;

/** An accepted request: its body as the contract reads it, and its path parameter, if it has one. */
interface Call<N extends OperationName> {
  readonly body: BodyOf<N>;
  readonly param: string;
}

/**
 * The service's work for one operation. Runs inside `database.write`: a thrown refusal undoes its writes, a returned
 * one keeps them.
 */
export type Handler<N extends OperationName> = (call: Call<N>) => Answer | Refusal;

/** Completeness is the compiler's: every operation of the contract has a handler. */
export type Handlers = { readonly [N in OperationName]: Handler<N> };

/** What a kind answers its operations with. */
export interface HandlerParts extends Core, TransactionTools {
  readonly checkoutUrl: (id: string) => string;
}
