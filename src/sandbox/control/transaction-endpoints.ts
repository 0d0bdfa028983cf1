import { z } from 'zod';
import { MOBILE_MONEY, MobileMoneyRequest } from '../deposit/methods.js';
import type { Database } from '../database.js';
import type { Announce } from '../deliveries/announce.js';
import type { History } from '../history.js';
import { OFFRAMP } from '../offramp.js';
import { ON_CHAIN_DEPOSIT, OnChainDepositRequest } from '../onramp.js';
import { badMembers, Refusal, unknownReference } from '../refusal.js';
import type { Input } from '../transactions/lifecycle.js';
import type { Transaction } from '../transactions/transactions.js';
import { type Endpoint, endpoint } from './endpoint.js';
import type { TransactionTools, StatusWord } from '../transactions/tools.js';

/** Transactions by reference: read them, move them by hand, and do what the interface has no operation for. */
export function createTransactionEndpoints(
  deps: Pick<TransactionTools, 'transactions' | 'carrier' | 'admit' | 'wordFor'> & {
    database: Database;
    history: History;
    announce: Announce;
    kindOf: (operation: string) => Parameters<StatusWord>[0];
  },
): Endpoint[] {
  const { database, transactions, carrier, admit, wordFor, history, announce, kindOf } = deps;

  const show = (transaction: Transaction) => ({
    ...transaction,
    word: wordFor(kindOf(transaction.operation), transaction),
    history: history.of(transaction.id),
  });

  function newest(reference: string, operation?: string): Transaction {
    const [transaction] = transactions.ofReference(reference, operation);
    if (transaction === undefined) throw unknownReference('Transaction', reference);
    return transaction;
  }

  /** As another client of the service would. */
  async function begin(kind: Parameters<typeof admit>[0], body: { readonly referenceId: string }) {
    const outcome = await database.write(() =>
      admit(kind, {
        body,
        reference: body.referenceId,
        answer: ({ id, reference }) => ({ message: `${kind.title} created`, data: { id, reference } }),
      }),
    );
    if (outcome instanceof Refusal) throw outcome;
    return outcome.data;
  }

  const apply = (reference: string, operation: string | undefined, input: Input) =>
    database.write(() => {
      const { id, status } = newest(reference, operation);
      if (carrier.apply(id, input) === undefined) {
        throw badMembers([{ path: 'status', message: `there is no such transition from ${status}` }]);
      }
      return show(transactions.get(id) as Transaction);
    });

  return [
    endpoint({
      method: 'GET',
      path: '/transactions/{reference}',
      summary: 'What was made with one reference, newest first, each with every status that it had: ?operation=',
      input: z.strictObject({ operation: z.string().optional() }),
      handle({ input: { operation }, params: { reference = '' } }) {
        newest(reference, operation);
        const found = transactions.ofReference(reference, operation);
        return { reference, count: found.length, transactions: found.map(show) };
      },
    }),
    endpoint({
      method: 'POST',
      path: '/transactions/{reference}/move',
      summary: 'Moves it by hand, as far as its lifecycle allows: {status, operation?}',
      input: z.strictObject({ status: z.string().min(1), operation: z.string().optional() }),
      handle: ({ input: { status, operation }, params: { reference = '' } }) =>
        apply(reference, operation, { kind: 'control', status }),
    }),
    endpoint({
      method: 'POST',
      path: '/transactions/{reference}/refund-invoice',
      summary: 'Gives an offramp that asked for it the invoice of its refund: {invoice}',
      input: z.strictObject({ invoice: z.string().min(1) }),
      handle: ({ params: { reference = '' } }) => apply(reference, OFFRAMP.operation, { kind: 'invoice' }),
    }),
    endpoint({
      method: 'POST',
      path: '/mobile-money-deposits',
      summary:
        'Creates one as another client of the service would: {referenceId, amount, currency, phoneNumber, callbackUrl?, …}',
      input: MobileMoneyRequest,
      handle: ({ input: body }) => begin(MOBILE_MONEY, body),
    }),
    endpoint({
      method: 'POST',
      path: '/on-chain-deposits',
      summary: 'Creates one as another client of the service would: the body of `createOnramp`, `callbackUrl` optional',
      input: OnChainDepositRequest,
      handle: ({ input: body }) => begin(ON_CHAIN_DEPOSIT, body),
    }),
    endpoint({
      method: 'POST',
      path: '/system-event',
      summary: "Sends the account's webhook a `system.event`: {data?}",
      input: z.strictObject({ data: z.record(z.string(), z.unknown()).optional() }),
      async handle({ input: { data = { message: 'Scheduled maintenance' } } }) {
        const news = { event: 'system.event', reference: '', status: '', data };
        return { deliveries: (await database.write(() => announce.webhook(news))).length };
      },
    }),
  ];
}
