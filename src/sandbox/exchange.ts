import type { FastifyReply, FastifyRequest } from 'fastify';
import { Big } from 'big.js';
import type { Operation } from '../contract/operation.js';
import type { Answers } from './answers.js';
import type { Answer } from './ledger.js';
import { Refusal } from './refusal.js';

/** One request that was let in, and the three things that can be done with it: commit, answer, break off. */
export interface Exchange {
  readonly operation: string;
  readonly reference: string;
  /** The handler's input; plain JSON. */
  readonly call: unknown;
  /**
   * Carries the operation out, once; also says whether that executed something. Never throws a refusal. `note` runs in
   * the same transaction.
   */
  commit(note?: (committed: Committed) => void): Promise<Committed>;
  answer(outcome: Answer | Refusal): void;
  /** The body that `answer` would send. */
  bodyOf(outcome: Answer | Refusal): object;
  /** Any status and text, for answers that are broken on purpose. */
  answerRaw(status: number, contentType: string, text: string): void;
  /** The connection breaks without an answer. */
  destroy(): void;
  /** No answer for now: the connection stays open. */
  hang(): void;
}

export interface Committed {
  readonly outcome: Answer | Refusal;
  /** True if an execution was written to the books. */
  readonly executed: boolean;
}

export function createExchange(deps: {
  operation: Operation;
  reference: string;
  call: unknown;
  request: FastifyRequest;
  reply: FastifyReply;
  commit: Exchange['commit'];
  answers: Answers;
}): Exchange {
  const { operation, reference, call, request, reply, commit, answers } = deps;
  return {
    operation: operation.name,
    reference,
    call,
    commit,
    answer(outcome) {
      if (outcome instanceof Refusal) {
        void reply
          .code(outcome.status)
          .headers(outcome.details.headers ?? {})
          .send(answers.bodyOf(outcome));
      } else {
        void reply.code(operation.success ?? 200).send(answers.bodyOf(outcome));
      }
    },
    bodyOf: (outcome) => answers.bodyOf(outcome),
    answerRaw: (status, contentType, text) => void reply.code(status).type(contentType).send(text),
    destroy() {
      reply.hijack();
      request.raw.socket.destroy();
    },
    hang: () => void reply.hijack(),
  };
}

/** ISO 4217: these have no minor unit. */
const WITHOUT_DECIMALS: readonly string[] = ['UGX', 'XOF', 'XAF', 'RWF', 'GNF'];
/** Currencies of the interface that are no fiat, as precise as their chains show them. */
const DECIMALS: Readonly<Record<string, number>> = { USDT: 6, USDC: 6, BTC: 8, ETH: 8 };

export const decimalsOf = (currency: string): number =>
  WITHOUT_DECIMALS.includes(currency) ? 0 : (DECIMALS[currency] ?? 2);

const FEE_PERCENT = '1';

/** The service's fee on an amount, in its currency, rounded down to the decimals of the currency. */
export const feeOf = (amount: string, currency: string): string =>
  new Big(amount).times(FEE_PERCENT).div(100).round(decimalsOf(currency), Big.roundDown).toFixed();

export const less = (amount: string, fee: string): string => new Big(amount).minus(fee).toFixed();
